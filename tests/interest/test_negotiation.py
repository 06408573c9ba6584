import pytest
from hypothesis import given
from hypothesis import strategies as st

from polycast.errors import BadInput
from polycast.interest.negotiation import negotiate
from polycast.model.format import Format
from polycast.model.profile import Profile


def _format(name: str, media_type: str | None, **properties: object) -> Format:
    return Format(name=name, size=1.0, media_type=media_type, **properties)  # type: ignore[arg-type]


def test_the_favourite_comes_first_and_costs_nothing() -> None:
    offers = [_format("png", "image/png"), _format("webp", "image/webp"), _format("pdf", "application/pdf")]
    answer = negotiate(Profile(accept="image/png;q=0.5, image/webp"), offers)
    assert answer.alternatives == {"webp": 0.0, "png": 0.5}
    assert list(answer.alternatives) == ["webp", "png"]
    assert answer.reason is None
    assert "application/pdf" in answer.refused["pdf"]


def test_nothing_acceptable_says_why() -> None:
    answer = negotiate(Profile(accept="text/plain"), [_format("png", "image/png")])
    assert answer.alternatives == {}
    assert answer.reason is not None
    assert "image/png" in answer.reason
    assert negotiate(Profile(), []).reason == "no format can be made"


def test_the_narrowest_range_decides() -> None:
    offers = [_format("png", "image/png"), _format("jpg", "image/jpeg")]
    assert list(negotiate(Profile(accept="image/*, image/png;q=0"), offers).alternatives) == ["jpg"]


@pytest.mark.parametrize("accept", ["image/png, ,image/jpeg;q=0.5", ",image/png,,image/jpeg;q=0.5, "])
def test_empty_elements_of_a_list_are_nothing(accept: str) -> None:
    offers = [_format("jpg", "image/jpeg"), _format("png", "image/png"), _format("pdf", "application/pdf")]
    assert negotiate(Profile(accept=accept), offers).alternatives == {"png": 0.0, "jpg": 0.5}
    assert len(negotiate(Profile(accept=" , "), offers).alternatives) == 3


@pytest.mark.parametrize("accept", ["image/png;", "image/png ; ; q=1 ;, text/html", "image/png;;q=0.5"])
def test_empty_parameters_are_nothing(accept: str) -> None:
    assert negotiate(Profile(accept=accept), [_format("png", "image/png;")]).alternatives == {"png": 0.0}


@pytest.mark.parametrize(
    ("accept", "place"),
    [
        ("*/png", "profile.accept"), ("image/png; q=1; Q=1", "column 17"), ("image/png;; x", "column 13"),
        ("image/png;q=1.001", "profile.accept"), ("image/png, *", "column 12"),
        ('image/png;q="0.\u0665"', "profile.accept"),
    ],
)  # fmt: skip
def test_what_is_no_accept_header(accept: str, place: str) -> None:
    with pytest.raises(BadInput, match=place):
        Profile(accept=accept)


def test_codecs_compare_as_lists() -> None:
    offer = [_format("video", 'video/mp4; codecs="avc1.64001F, mp4a.40.2"')]
    for accept, fits in {
        "video/mp4": True,
        'video/mp4; codecs="mp4a.40.2,avc1.64001f,vp9"': True,
        'video/mp4; codecs="avc1, mp4a"': True,
        'video/mp4; codecs="avc1.64001F"': False,
        'video/mp4; codecs="avc1.64001F, mp4a.40.2"; profile=x': False,
    }.items():
        assert bool(negotiate(Profile(accept=accept), offer).alternatives) == fits, accept


def test_limits_apply_to_what_is_stated() -> None:
    offers = [_format("hd", None, width=1280), _format("sd", None, width=640), _format("text", None)]
    assert set(negotiate(Profile(max_width=640), offers).alternatives) == {"sd", "text"}


def test_languages_in_order_of_liking() -> None:
    offers = [
        _format("en", None, language="en-GB"),
        _format("ar", None, language="ar"),
        _format("fr", None, language="fr"),
    ]
    assert negotiate(Profile(languages=("ar", "en")), offers).alternatives == {"ar": 0.0, "en": 0.5}


def test_the_refusal_says_what_is_wrong() -> None:
    offers = {
        "wide": _format("wide", "video/mp4", width=1920, height=1080),
        "high": _format("high", "video/mp4", width=640, height=1080),
        "fast": _format("fast", "video/mp4", bitrate=5e6),
        "large": Format(name="large", size=9.0, media_type="video/mp4"),
        "arabic": _format("arabic", "video/mp4", language="ar"),
        "picture": _format("picture", "image/png"),
        "hated": _format("hated", "video/ogg"),
        "nameless": _format("nameless", None),
    }
    profile = Profile(
        accept="video/*, video/ogg;q=0",
        max_width=1280,
        max_height=720,
        max_bitrate=1e6,
        max_size=5,
        languages=("en",),
    )
    refused = negotiate(profile, offers.values()).refused
    assert refused == {
        "wide": "too wide, 1920 for 1280",
        "high": "too high, 1080 for 720",
        "fast": "too high a bitrate, 5e+06 for 1e+06",
        "large": "too large, 9 for 5",
        "arabic": "its language ar is none of en",
        "picture": f"image/png is not in `{profile.accept}`",
        "hated": f"video/ogg is not in `{profile.accept}`",
        "nameless": f"a format without a media type is not in `{profile.accept}`",
    }


def test_parameters_narrow_a_range() -> None:
    offers = [
        _format("plain", "text/html"),
        _format("one", "text/html;level=1"),
        _format("two", 'text/html; Level="2"'),
        _format("text", "text/plain"),
    ]
    accept = "text/*;q=0.3, text/html;q=0.7, text/html;level=1, text/html;level=2;q=0.4, */*;q=0.5"
    answer = negotiate(Profile(accept=accept), offers, weight=10)
    assert answer.alternatives == pytest.approx({"one": 0, "plain": 3, "two": 6, "text": 7})
    assert list(answer.alternatives) == ["one", "plain", "two", "text"]


qualities = st.none() | st.floats(0, 1)
formats = st.builds(
    _format,
    st.uuids().map(str),
    st.sampled_from((None, "image/png", "image/webp", "video/mp4", 'video/mp4; codecs="avc1"')),
    width=st.none() | st.integers(1, 4000),
    language=st.sampled_from((None, "en", "en-GB", "ar")),
    quality=qualities,
)
profiles = st.builds(
    Profile,
    accept=st.sampled_from(("*/*", "image/*;q=0.5, video/mp4", "video/mp4;codecs=avc1;q=0.1, */*;q=0", "")),
    max_width=st.none() | st.integers(1, 4000),
    languages=st.sampled_from(((), ("en",), ("ar", "*"))),
)


@given(profiles, st.lists(formats, max_size=6), st.floats(0.1, 100))
def test_every_format_is_ranked_or_refused(profile: Profile, offers: list[Format], weight: float) -> None:
    answer = negotiate(profile, offers, weight)
    assert answer.alternatives.keys() | answer.refused.keys() == {offer.name for offer in offers}
    assert not answer.alternatives.keys() & answer.refused.keys()
    penalties = list(answer.alternatives.values())
    assert penalties == sorted(penalties)
    assert not penalties or (penalties[0] == 0 and penalties[-1] <= weight)
    assert (answer.reason is None) == bool(penalties)
    for offer in offers:
        if profile.max_width is not None and (offer.width or 0) > profile.max_width:
            assert offer.name in answer.refused


@pytest.mark.parametrize("languages", [("en_GB",), ("",), ("en", "überall")])
def test_languages_are_ranges(languages: tuple[str, ...]) -> None:
    with pytest.raises(BadInput, match="not a language range"):
        Profile(languages=languages)
