"""The charts of the page as Vega-Lite specifications; the page fills in their data.

Fields have fixed names, and names from users never become part of an expression: they are data, drawn as text only.
Colors are variables of the style sheet (Okabe and Ito's palette, which color-blind people can tell apart), so one chart
serves light, dark and print.
"""

from typing import Any

__all__ = ["charts"]

Spec = dict[str, Any]

_LINES = [f"var(--line-{i})" for i in range(7)]
_CONFIG: Spec = {
    "background": "transparent",
    "font": "system-ui, sans-serif",
    "aria": False,  # a table beside the charts has the same points
    "view": {"stroke": None},
    "axis": {
        "labelColor": "currentColor",
        "titleColor": "currentColor",
        "domainColor": "currentColor",
        "tickColor": "currentColor",
        "gridColor": "currentColor",
        "gridOpacity": 0.12,
        "domainOpacity": 0.4,
        "tickOpacity": 0.4,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
    },
    "legend": {"labelColor": "currentColor", "labelFontSize": 12, "labelLimit": 240, "title": None},
}


def charts(performance: str = "error") -> dict[str, Spec]:
    """Return every specification by the id of its element on the page; `performance` names the axis of the front."""
    return {
        "front": _front(performance),
        "parallel": _parallel(),
        "scores": _scores(),
        "objectives": _over_time("value of the objective"),
        "weights": _over_time("weight"),
        "hypervolume": _hypervolume(),
    }


def _chart(height: Any, layers: list[Spec], data: str, **more: Any) -> Spec:
    return {"width": "container", "height": height, "data": {"name": data}, "layer": layers, "config": _CONFIG, **more}


def _quantity(field: str, low: str, high: str, **axis: Any) -> Spec:
    """Return an axis from `low` to `high`: numbers, or parameters that the page sets."""
    scale = {"domain": [{"expr": low}, {"expr": high}], "nice": True, "zero": False}
    return {"field": field, "type": "quantitative", "axis": {"title": None, "tickCount": 6, **axis}, "scale": scale}


def _parameters(**values: Any) -> list[Spec]:
    return [{"name": name, "value": value} for name, value in values.items()]


def _chosen(field: str = "datum.id") -> list[Spec]:
    return [{"filter": f"{field} === selected"}]


def _front(performance: str) -> Spec:
    """Return performance against a gap: points with intervals, the estimated limit, and the limit that is set."""
    x, y = _quantity("x", "0", "widest"), _quantity("y", "lowest", "highest", title=performance)
    shade = {"condition": {"test": "datum.inside", "value": "var(--inside)"}, "value": "var(--outside)"}

    def intervals(opacity: float, width: float, **more: Any) -> list[Spec]:
        mark = {"type": "rule", "strokeWidth": width, "opacity": opacity, "clip": True}
        return [
            {"mark": mark, "encoding": {"x": {**x, "field": "xlow"}, "x2": {"field": "xhigh"}, "y": y}, **more},
            {"mark": mark, "encoding": {"x": x, "y": {**y, "field": "ylow"}, "y2": {"field": "yhigh"}}, **more},
        ]

    def colored(layers: list[Spec], color: Any) -> list[Spec]:
        return [{**layer, "encoding": {**layer["encoding"], "color": color}} for layer in layers]

    everyone = [{"filter": "datum.quiet === false"}]
    limit, bound = {"data": {"name": "limit"}}, {"data": {"name": "bound"}}
    layers: list[Spec] = [
        {**limit, "mark": {"type": "area", "opacity": 0.15, "color": "var(--limit)", "clip": True}, "encoding": {
            "x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}}},
        {**limit, "mark": {"type": "line", "strokeDash": [6, 4], "color": "var(--limit)", "clip": True},
         "encoding": {"x": x, "y": y}},
        {**bound, "encoding": {"x": x}, "mark": {
            "type": "rule", "strokeDash": [2, 3], "strokeWidth": 2, "color": "var(--selected)", "clip": True}},
        *colored(intervals(0.25, 1, transform=everyone), shade),
        {"mark": {"type": "circle", "size": 48, "opacity": 0.9, "cursor": "pointer"}, "encoding": {
            "x": x, "y": y, "color": shade, "tooltip": {"field": "tooltip"}}},
        *colored(intervals(0.9, 1.5, transform=[{"filter": "datum.id === 0"}]), {"value": "var(--baseline)"}),
        {"mark": {"type": "point", "shape": "diamond", "filled": True, "size": 170, "opacity": 1, "cursor": "pointer"},
         "transform": [{"filter": "datum.id === 0"}],
         "encoding": {"x": x, "y": y, "color": {"value": "var(--baseline)"}, "tooltip": {"field": "tooltip"}}},
        *colored(intervals(1, 2, transform=_chosen()), {"value": "var(--selected)"}),
        {"mark": {"type": "point", "size": 260, "strokeWidth": 3, "filled": False, "opacity": 1},
         "transform": _chosen(), "encoding": {"x": x, "y": y, "color": {"value": "var(--selected)"}}},
    ]  # fmt: skip
    return _chart(440, layers, "points", params=_parameters(selected=0, widest=1, lowest=0, highest=1))


def _parallel() -> Spec:
    """Return parallel coordinates: one line per point, one axis per objective."""
    x: Spec = {"field": "objective", "type": "ordinal", "sort": None, "scale": {"type": "point", "padding": 0.5}}
    x |= {
        "axis": {
            "title": None,
            "labelAngle": 0,
            "labelExpr": "split(datum.label, '\\n')",
            "labelPadding": 20,
            "labelLimit": 110,
            "grid": True,
            "domain": False,
            "ticks": False,
        }
    }
    y = {"field": "place", "type": "quantitative", "axis": None, "scale": {"domain": [0, 1]}}
    shade = {"condition": {"test": "datum.inside", "value": "var(--inside)"}, "value": "var(--outside)"}
    faint = {"condition": {"test": "datum.inside", "value": 0.55}, "value": 0.15}
    lines = {"x": x, "y": y, "detail": {"field": "id"}}
    ends = {"data": {"name": "ends"}, "encoding": {"x": x, "y": y, "text": {"field": "text"}}}
    text = {"type": "text", "fontSize": 12, "color": "currentColor", "dy": {"expr": "datum.place ? -11 : 11"}}
    layers: list[Spec] = [
        {"mark": {"type": "line", "strokeWidth": 1.2}, "encoding": {**lines, "color": shade, "opacity": faint}},
        {"mark": {"type": "line", "strokeWidth": 2, "color": "var(--baseline)"},
         "transform": [{"filter": "datum.id === 0"}], "encoding": lines},
        {"mark": {"type": "line", "strokeWidth": 3.5, "color": "var(--selected)",
                  "point": {"color": "var(--selected)", "size": 60}},
         "transform": _chosen(), "encoding": lines},
        {"data": {"name": "bounds"}, "encoding": {"x": x, "y": y}, "mark": {
            "type": "tick", "size": 34, "thickness": 4, "color": "var(--selected)"}},
        {**ends, "mark": text},
    ]  # fmt: skip
    return _chart(260, layers, "lines", params=_parameters(selected=0))


def _scores() -> Spec:
    """Return the distribution of scores in each group, and the threshold."""
    x, y = _quantity("score", "0", "1", title="score"), _quantity("share", "0", "highest", title="share of the group")
    y["axis"] |= {"format": ".0%"}
    color: Spec = {"field": "group", "sort": None, "scale": {"range": _LINES}}
    color |= {"legend": {"orient": "bottom", "direction": "vertical", "symbolOpacity": 1}}
    steps, encoding = {"interpolate": "step-after"}, {"x": x, "y": y, "color": color}
    rule = {"type": "rule", "strokeWidth": 2, "strokeDash": [2, 3], "color": "currentColor"}
    layers: list[Spec] = [
        {"mark": {"type": "area", "opacity": 0.12, **steps}, "encoding": encoding | {"y": {**y, "stack": None}}},
        {"mark": {"type": "line", "strokeWidth": 2, **steps}, "encoding": encoding},
        {"data": {"name": "threshold"}, "mark": rule, "encoding": {"x": x}},
    ]
    return _chart(220, layers, "lines", params=_parameters(highest=1))


def _over_time(what: str) -> Spec:
    """Return each objective's value or weight over time: the median over members, in a band of their range."""
    x, y = _steps(), _quantity("middle", "0", "highest", title=what)
    color: Spec = {"field": "name", "sort": None, "scale": {"range": _LINES}}
    color |= {"legend": {"orient": "bottom", "direction": "vertical", "symbolOpacity": 1}}
    layers: list[Spec] = [
        {"mark": {"type": "area", "opacity": 0.12}, "encoding": {
            "x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "color": color}},
        {"mark": {"type": "line", "strokeWidth": 2}, "encoding": {"x": x, "y": y, "color": color}},
        _moment(x),
    ]  # fmt: skip
    return _chart(200, layers, "lines", params=_parameters(step=0, last=1, highest=1))


def _hypervolume() -> Spec:
    """Return the hypervolume of the front over time."""
    x, y = _steps(), _quantity("volume", "lowest", "highest", title="hypervolume of the front")
    line = {"type": "line", "interpolate": "step-after", "strokeWidth": 2, "color": "var(--inside)"}
    layers: list[Spec] = [{"mark": line, "encoding": {"x": x, "y": y}}, _moment(x)]
    return _chart(200, layers, "lines", params=_parameters(step=0, last=1, lowest=0, highest=1))


def _steps() -> Spec:
    return _quantity("step", "0", "last", title="step")


def _moment(x: Spec) -> Spec:
    """Return a vertical line at the step of the selected point; none if `step` is null."""
    rule = {"type": "rule", "strokeWidth": 2, "strokeDash": [2, 3], "color": "var(--selected)"}
    place = {"transform": [{"filter": "isValid(step)"}, {"calculate": "step", "as": "step"}], "encoding": {"x": x}}
    return {"data": {"values": [{}]}, "mark": rule, **place}
