"""The owner's password: argon2 with its library's settings, checked in constant time."""

import threading

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from likewise.errors import LikewiseError

MIN_PASSWORD_LENGTH = 10
MAX_PARALLEL_CHECKS = 2
_hasher = PasswordHasher()
_checks = threading.BoundedSemaphore(MAX_PARALLEL_CHECKS)  # each takes 64 MB: many at once would starve the votes


def hash_password(password: str) -> str:
    if len(password) < MIN_PASSWORD_LENGTH:
        raise LikewiseError(f"the owner's password has {len(password)} characters: use {MIN_PASSWORD_LENGTH} or more.")
    return _hasher.hash(password)


def password_matches(stored: str, password: str) -> bool:
    try:
        with _checks:
            return _hasher.verify(stored, password)
    except (VerificationError, InvalidHashError):
        return False
