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
