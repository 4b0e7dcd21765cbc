"""Designers bring pictures along for their questions: what is taken, what is refused, who sees it, and what remains."""

from collections.abc import Callable
from io import BytesIO

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from PIL import Image, PngImagePlugin
from sqlalchemy import Engine

from likewise.labeling.store.experts import invite_expert, open_owner_session, redeem_invitation
from likewise.labeling.store.questionnaires import add_questionnaire, enter_as_guest
from likewise.outfits.designer_pictures import FOLDER, designer_items
from likewise.outfits.publish import read_drafts, selected_drafts
from likewise.web.security import MAX_BODY_BYTES, SESSION_COOKIE, csrf_token
from likewise.web.uploads import MAX_UPLOAD_PIXELS
from likewise.workspace import WorkspaceFolder

from .conftest import BASE, Browser

UPLOAD = "/api/outfits/pictures"


def picture(colour: str = "red", size: tuple[int, int] = (60, 40), kind: str = "PNG", **options: object) -> bytes:
    output = BytesIO()
    Image.new("RGB", size, colour).save(output, kind, **options)
    return output.getvalue()


@pytest.fixture
def visit(app: FastAPI, engine: Engine) -> Callable[[str], Browser]:
    def enter(name: str) -> Browser:
        token: str | None
        if name == "owner":
            token = open_owner_session(engine)
        elif name == "guest":
            add_questionnaire(engine, "open", "Open", consent="Really?", public=True, most_guests=500)
            token = enter_as_guest(engine, "open")
        else:
            token = redeem_invitation(engine, invite_expert(engine, name))
        assert token is not None
        client = TestClient(app, base_url=BASE, follow_redirects=False)
        client.cookies.set(SESSION_COOKIE, token)
        return Browser(client, csrf_token(token))

    return enter


def bring(browser: Browser, content: bytes, category: str = "bags", **headers: str) -> tuple[int, dict[str, str]]:
    said = {"X-CSRF-Token": browser.csrf, "Content-Type": "image/png"} | headers
    reply = browser.client.post(UPLOAD, params={"category": category}, content=content, headers=said)
    return reply.status_code, reply.json()


def test_what_is_no_picture_or_too_large_is_refused_in_one_sentence_and_leaves_nothing(
    visit: Callable[[str], Browser], workspace: WorkspaceFolder, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    dana = visit("Dana")
    svg = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"
    for content in (b"", b"no picture", svg, picture()[:50]):
        status, told = bring(dana, content)
        assert status == 400 and "this file" in told["detail"], told
    side = int(MAX_UPLOAD_PIXELS**0.5) + 1
    huge = picture("white", (side, side), compress_level=9)
    assert len(huge) < MAX_BODY_BYTES
    monkeypatch.setattr("likewise.outfits.web.own_pictures.open_picture", lambda *_: pytest.fail("it was unpacked"))
    status, told = bring(dana, huge)
    assert status == 400 and "pixels" in told["detail"]
    assert bring(dana, b"x" * (MAX_BODY_BYTES + 1))[0] == 413
    monkeypatch.undo()
    for category in ("", "../bags", "hovercraft", "Bags"):
        assert bring(dana, picture(), category)[0] == 400
    assert dana.client.post(UPLOAD, content=picture()).status_code in (400, 403, 422)  # no token, no category
    assert bring(dana, picture(), **{"X-CSRF-Token": "forged"})[0] == 403
    assert designer_items(workspace, engine) == {}
    assert not list(workspace.path.glob(f"outfits/{FOLDER}/*"))


def test_only_pixels_are_kept_under_a_name_of_ours(visit: Callable[[str], Browser], workspace: WorkspaceFolder) -> None:
    facts = PngImagePlugin.PngInfo()
    facts.add_text("Comment", "taken at 48.2N 16.4E")
    status, told = bring(visit("Dana"), picture(pnginfo=facts))
    assert status == 200
    [kept] = workspace.path.glob(f"outfits/{FOLDER}/*")
    assert kept.name == f"{told['item']}.jpg" and b"48.2N" not in kept.read_bytes()
    with Image.open(kept) as stored:
        assert stored.format == "JPEG" and stored.size == (60, 40)


def test_a_picture_is_shown_to_designers_and_the_owner_and_no_name_leads_elsewhere(
    visit: Callable[[str], Browser], workspace: WorkspaceFolder
) -> None:
    _, told = bring(visit("Dana"), picture())
    for who in ("Emil", "owner"):
        reply = visit(who).get(told["picture"])
        assert reply.status_code == 200 and reply.headers["content-type"] == "image/jpeg"
    assert visit("guest").get(told["picture"]).status_code == 401
    (workspace.path / "outfits" / FOLDER / "secret.jpg").write_bytes(b"secret")
    fay = visit("Fay")
    for name in ("secret", "design-0123456789abcdef", "..%2f..%2fcatalog", "design-0123456789ABCDEF", "%00"):
        assert fay.get(f"/outfits/designs/picture/{name}").status_code == 404


def test_a_question_of_ones_own_pictures_from_upload_to_the_vote(
    visit: Callable[[str], Browser], workspace: WorkspaceFolder, engine: Engine
) -> None:
    dana, emil = visit("Dana"), visit("Emil")
    bags = [bring(dana, picture(colour))[1]["item"] for colour in ("red", "orange", "pink", "yellow", "blue")]
    dress, shoes = (bring(dana, picture("black"), kind)[1]["item"] for kind in ("dresses", "shoes"))
    page = dana.get("/outfits/designs/new?dimension=color&sub=warm+tone&category=bags").text
    assert all(f'name="right" value="{name}"' in page for name in bags)
    fields = {"dimension": "color", "sub": "warm tone", "category": "bags", "right": bags[0], "wrong": bags[1:]}
    worn = {"worn-dresses": dress, "worn-shoes": shoes}
    refused = dana.form("/outfits/designs", **fields, **worn)
    assert refused.status_code == 400 and "confirm that the choices differ in color only" in refused.text
    assert dana.form("/outfits/designs", **fields, **worn, only="yes").status_code == 303
    [draft] = read_drafts(engine)
    shown = emil.get("/outfits/votes").text
    assert all(f"/outfits/designs/picture/{name}" in shown for name in (*bags, dress, shoes))
    assert emil.form("/outfits/votes", draft=draft.name, keep="yes").status_code == 303
    assert [one.name for one in selected_drafts(engine).drafts] == [draft.name]
    used = dana.form(f"/outfits/designs/picture/{dress}/remove")
    assert used.status_code == 400 and "withdraw the question first" in used.text
    assert emil.form(f"/outfits/designs/picture/{dress}/remove").status_code == 400  # not his
    assert dana.form(f"/outfits/designs/{draft.name}/withdraw").status_code == 303
    assert dana.form(f"/outfits/designs/picture/{dress}/remove").status_code == 303
    assert dress not in designer_items(workspace, engine) and set(bags) < set(designer_items(workspace, engine))
    assert dana.get(f"/outfits/designs/picture/{dress}").status_code == 404


def test_a_designer_brings_a_limited_number_of_pictures(
    visit: Callable[[str], Browser], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("likewise.outfits.designer_pictures.MAX_PICTURES", 2)
    dana = visit("Dana")
    assert [bring(dana, picture(colour))[0] for colour in ("red", "blue", "red", "green")] == [200, 200, 200, 400]
    assert bring(visit("Emil"), picture("green"))[0] == 200
