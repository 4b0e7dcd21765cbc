"""Each defence of docs/security.md, how to switch it off in the source, and a test that must fail then."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Defence:
    """`there` in a file of src/likewise becomes `gone`; `kept_by` are tests that fail without it."""

    name: str
    file: str
    there: str
    gone: str
    kept_by: str


ACCESS, SECURITY, CONNECTIONS = (
    "tests/web/test_access.py",
    "tests/web/test_security.py",
    "tests/web/test_connections.py",
)
ASSIGNMENT = "tests/labeling/test_assignment.py::test_invitations_expire_are_revoked_and_replaced"
TOKENS = "tests/labeling/test_assignment.py::test_tokens_are_long_and_the_database_does_not_hold_them"
HOSTILE = "tests/web/test_hostile_requests.py"
BUNDLE = "tests/evaluation/test_bundle.py"
NO_CSRF = "if not csrf_matches(cookies.get(SESSION_COOKIE) or cookies.get(VISIT_COOKIE), {}):"

DEFENCES = (
    Defence(
        "only the owner",
        "web/access.py",
        "if who is None or not who.is_owner:",
        "if who is None:",
        f"{ACCESS}::test_roles_are_checked_on_every_route",
    ),
    Defence(
        "only experts",
        "web/access.py",
        "if who is None or who.is_owner or who.questionnaire is not None:",
        "if who is None or who.is_owner:",
        f"{ACCESS}::test_roles_are_checked_on_every_route",
    ),
    Defence(
        "csrf of scripts",
        "web/access.py",
        NO_CSRF.format("x_csrf_token"),
        "if False:",
        f"{ACCESS}::test_nothing_is_changed_without_the_pages_token",
    ),
    Defence(
        "csrf of forms",
        "web/access.py",
        NO_CSRF.format("csrf_token"),
        "if False:",
        f"{ACCESS}::test_nothing_is_changed_without_the_pages_token",
    ),
    Defence(
        "tokens are hashed at rest",
        "labeling/store/experts.py",
        "return hashlib.sha256(token.encode()).hexdigest()",
        "return token",
        TOKENS,
    ),
    Defence("tokens cannot be guessed", "labeling/store/experts.py", "TOKEN_BYTES = 24", "TOKEN_BYTES = 8", TOKENS),
    Defence(
        "invitations expire",
        "labeling/store/experts.py",
        "Expert.revoked.is_(None), Expert.expires > store_time_now()",
        "Expert.revoked.is_(None)",
        ASSIGNMENT,
    ),
    Defence(
        "revoked invitations do not open",
        "labeling/store/experts.py",
        "Expert.revoked.is_(None), Expert.expires > store_time_now()",
        "Expert.expires > store_time_now()",
        ASSIGNMENT,
    ),
    Defence(
        "sessions end with the invitation",
        "labeling/store/experts.py",
        "elif revoked is None and (expires is None or expires > moment):",
        "else:",
        ASSIGNMENT,
    ),
    Defence(
        "passwords are slow to try",
        "web/passwords.py",
        "_hasher = PasswordHasher()",
        "_hasher = PasswordHasher(time_cost=1, memory_cost=64)",
        f"{SECURITY}::test_passwords_are_hashed_with_argon2_and_not_too_short",
    ),
    Defence(
        "a new password ends the owner's sessions",
        "labeling/store/experts.py",
        "connection.execute(delete(Session).where(Session.expert.is_(None)))",
        "pass",
        f"{SECURITY}::test_a_new_password_ends_the_owners_sessions",
    ),
    Defence(
        "few guesses",
        "web/security.py",
        "if len(self._failures.get(address, ())) >= self.attempts or everywhere >= 10 * self.attempts:",
        "if False:",
        f"{SECURITY}::test_guessing_is_slowed_down",
    ),
    Defence(
        "few hashes at once",
        "web/passwords.py",
        "MAX_PARALLEL_CHECKS = 2",
        "MAX_PARALLEL_CHECKS = 100",
        f"{HOSTILE}::test_few_passwords_are_hashed_at_the_same_time",
    ),
    Defence(
        "cookies are not for scripts",
        "web/access.py",
        "httponly=True",
        "httponly=False",
        f"{SECURITY}::test_cookies_cannot_be_read_by_scripts_or_sent_from_elsewhere",
    ),
    Defence(
        "cookies stay at home",
        "web/access.py",
        'samesite="lax"',
        'samesite="none"',
        f"{SECURITY}::test_cookies_cannot_be_read_by_scripts_or_sent_from_elsewhere",
    ),
    Defence(
        "cookies under https",
        "web/access.py",
        "secure=site.settings.secure",
        "secure=False",
        f"{SECURITY}::test_an_https_site_keeps_its_cookies_to_https",
    ),
    Defence(
        "the Host header",
        "web/security.py",
        'if not self.any_host and _host_name(headers.get("host", "")) not in self.hosts:',
        "if False:",
        f"{SECURITY}::test_a_local_site_answers_only_to_its_own_name",
    ),
    Defence(
        "headers",
        "web/security.py",
        "ours.setdefault(name, value)",
        "pass",
        f"{SECURITY}::test_every_reply_carries_the_headers",
    ),
    Defence(
        "bodies",
        "web/security.py",
        "MAX_BODY_BYTES = 1_000_000",
        "MAX_BODY_BYTES = 10**12",
        f"{SECURITY}::test_bodies_have_a_limit",
    ),
    Defence(
        "bodies of unknown length",
        "web/security.py",
        'or "transfer-encoding" in headers',
        'or headers.get("transfer-encoding") == "chunked"',
        f"{SECURITY}::test_a_body_of_unknown_length_is_refused_however_it_is_written",
    ),
    Defence(
        "pictures that are programs",
        "catalog/images.py",
        "if name not in STARTS_PROGRAMS]",
        "]",
        "tests/catalog/test_make.py::test_a_picture_that_is_postscript_is_never_run",
    ),
    Defence(
        "strict fields",
        "web/schemas.py",
        'extra="forbid"',
        'extra="ignore"',
        f"{HOSTILE}::test_fields_that_nobody_asked_for_are_refused",
    ),
    Defence(
        "words are text on the site",
        "web/pages.py",
        "autoescape=True",
        "autoescape=False",
        f"{SECURITY}::test_text_of_people_is_escaped",
    ),
    Defence(
        "words are text on pages that are sent around",
        "report/page.py",
        "autoescape=True",
        "autoescape=False",
        "tests/report/test_hostile_names.py::test_names_are_text_on_every_page_that_is_sent_around",
    ),
    Defence(
        "pictures by id",
        "web/thumbnails.py",
        "if key not in self.keys:",
        "if False:",
        f"{SECURITY}::test_pictures_that_are_not_in_the_catalog_are_not_opened",
    ),
    Defence(
        "slow clients",
        "web/connections.py",
        "self._deadline = None\n        if not self.transport.is_closing():",
        "self._deadline = None\n        if False:",
        f"{CONNECTIONS}::test_a_request_that_never_arrives_is_ended",
    ),
    Defence(
        "endless headers",
        "web/connections.py",
        "self._head_bytes > MAX_HEAD_BYTES",
        "False",
        f"{CONNECTIONS}::test_headers_without_end_are_ended",
    ),
    Defence(
        "many connections",
        "web/connections.py",
        "transport.abort()",
        "pass",
        f"{CONNECTIONS}::test_one_address_cannot_take_all_connections",
    ),
    Defence(
        "trusted proxies",
        "web/serve.py",
        "forwarded_allow_ips=list(settings.trusted_proxies)",
        'forwarded_allow_ips="*"',
        f"{CONNECTIONS}::test_only_a_trusted_proxy_says_where_a_request_comes_from",
    ),
    Defence(
        "picture bombs",
        "web/uploads.py",
        "if width * height > MAX_UPLOAD_PIXELS:",
        "if False:",
        f"{CONNECTIONS}::test_a_small_file_of_a_huge_picture_is_refused_before_it_is_unpacked",
    ),
    Defence(
        "pictures of a catalog",
        "catalog/check.py",
        "if width * height > MAX_PIXELS:",
        "if False:",
        "tests/catalog/test_make.py::test_a_picture_has_a_hundred_million_pixels_at_most",
    ),
    Defence(
        "the adjudicator's name",
        "labeling/store/experts.py",
        "if name.lower() == ADJUDICATOR:",
        "if False:",
        "tests/labeling/test_assignment.py::test_nobody_is_invited_under_the_name_that_settles_doubtful_pairs",
    ),
    Defence(
        "formulas",
        "spreadsheets.py",
        "return defuse_formulas(table).write_csv(separator=separator)",
        "return table.write_csv(separator=separator)",
        "tests/test_spreadsheets.py::test_labels_with_keys_like_formulas_go_there_and_back",
    ),
    Defence(
        "links out of a bundle",
        "evaluation/bundles/files.py",
        "if not path.is_file() or not path.resolve().is_relative_to(folder.resolve()):",
        "if not path.is_file():",
        f"{BUNDLE}::test_a_link_out_of_the_folder_is_not_followed",
    ),
    Defence(
        "zip bombs",
        "evaluation/bundles/files.py",
        "limit = MAX_CARD_BYTES if stored is None else stored.bytes",
        "limit = 10**12",
        f"{BUNDLE}::test_a_zip_bomb_is_read_no_further_than_the_card_says",
    ),
    Defence(
        "weights are tensors",
        "encoders/networks/torch_weights.py",
        "if (module, name) not in ALLOWED:",
        "if (module, name) not in ALLOWED:\n            return super().find_class(module, name)\n        if False:",
        "tests/encoders/test_torch_weights.py",
    ),
    Defence(
        "code in files",
        "encoders/stored_specs.py",
        "if module not in trusted:",
        "if False:",
        "tests/encoders/test_stored_specs.py::test_a_run_that_names_code",
    ),
    Defence(
        "guesses are counted before they are checked",
        "web/security.py",
        "self._failures.setdefault(address, deque()).append(time.monotonic())",
        "pass",
        f"{HOSTILE}::test_parallel_guesses_are_counted_before_they_are_checked",
    ),
    Defence(
        "an answer that is sent again is known",
        "labeling/store/events.py",
        "    known = seen.get(answer.client_id)",
        "    known = None",
        "tests/web/test_faults.py::test_killing_the_server_under_load_loses_no_acknowledged_vote",
    ),
    Defence(
        "another pool",
        "web/site.py",
        "follow_workspace(self.engine, self.settings.workspace)",
        "pass",
        "tests/web/test_replacing.py::test_another_pool_is_asked_without_a_restart",
    ),
    Defence(
        "columns of files",
        "untrusted/checks.py",
        "table = table.with_columns(_checked(table[name], column, where).alias(name))",
        "pass",
        "tests/hostile/test_files_from_elsewhere.py::test_a_few_damaged_files",
    ),
    Defence(
        "tables of a bundle",
        "evaluation/bundles/bundle.py",
        'check_columns(read_untrusted_parquet(content, where := f"{path}: {name}.parquet"), COLUMNS[name], where)',
        'read_untrusted_parquet(content, f"{path}: {name}.parquet")',
        "tests/hostile/test_files_from_elsewhere.py::test_bundles_whose_sums_fit_and_whose_tables_lie",
    ),
    Defence(
        "large tables",
        "untrusted/checks.py",
        "if size.n_values > max(MAX_CELLS, allowed) or size.n_bytes > max(MAX_UNPACKED_BYTES, allowed):",
        "if False:",
        "tests/hostile/test_files_from_elsewhere.py::test_a_table_that_unpacks_to_more_than_a_machine_holds",
    ),
    Defence(
        "packed arrays",
        "untrusted/archives.py",
        "if n_bytes > max(MAX_UNPACKED_BYTES, MAX_PACKING * path.stat().st_size):",
        "if False:",
        "tests/hostile/test_files_from_elsewhere.py::test_arrays_that_unpack_to_more_than_a_machine_holds",
    ),
    Defence(
        "names out of a bundle",
        "evaluation/bundles/files.py",
        'if not parts or name.startswith("/") or ".." in parts or "\\\\" in name or "\\0" in name or ":" in parts[0]:',
        "if False:",
        f"{BUNDLE}::test_names_that_lead_out_of_the_bundle_are_refused",
    ),
    Defence(
        "checksums of vectors",
        "encoders/storage/reading.py",
        'not is_as_written(path, found, meta.shards.get(str(shard), "")):',
        "False:",
        "tests/encoders/test_reading.py::test_one_changed_number_is_noticed",
    ),
    Defence(
        "a workspace's own files",
        "workspace.py",
        "check_shape(note, shape or {}, str(path), then=AS_WRITTEN)",
        "pass",
        "tests/hostile/test_own_files.py::test_every_command_says_in_one_sentence_what_is_damaged",
    ),
    Defence(
        "keys that lead elsewhere",
        "catalog/make.py",
        "    rows = rows.filter(~odd.fill_null(False))",
        "    pass",
        "tests/catalog/test_make.py::test_pipes_devices_and_keys_that_lead_elsewhere_are_left_out",
    ),
    Defence(
        "zips that lie",
        "untrusted/archives.py",
        "UNREADABLE_ZIP = (zipfile.BadZipFile, zlib.error, LZMAError, EOFError, OSError, ValueError, RuntimeError)",
        "UNREADABLE_ZIP = (zipfile.BadZipFile, EOFError, OSError, ValueError)",
        "tests/hostile/test_archives.py::test_a_zip_that_lies_is_one_sentence",
    ),
    Defence(
        "a database that was moved",
        "labeling/store/engine.py",
        'if connection.info.get("file") != _identity(file):',
        "if False:",
        "tests/web/test_faults.py::test_no_vote_is_acknowledged_into_a_file_that_is_not_there_any_more",
    ),
    Defence(
        "sessions begun by a clock that ran ahead",
        "labeling/store/experts.py",
        "if ends > days_from_now(2 * _session_days(expert)):",
        "if False:",
        "tests/labeling/test_clocks.py::test_a_session_begun_by_a_clock_that_ran_ahead_does_not_last_for_as_long",
    ),
)
