"""Deliberate errors in Python source: one small change each, made on the syntax tree.

Left alone is what no test is to notice: docstrings, messages (f-strings, and what a `raise` says), annotations,
decorators, imports, `assert`, `__all__`, and how a value prints.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
}
_TWINS = [("min", "max"), ("minimum", "maximum"), ("argmin", "argmax"), ("any", "all"), ("ceil", "floor")]
_OTHER_NAME = {name: other for pair in _TWINS for name, other in (pair, pair[::-1])}
_IDLE_KEYWORDS = {"strict", "dtype", "name"}  # checks of what cannot happen, kinds of numbers, and words
_SYMMETRIC = {"minimum", "maximum", "min", "max", "hypot", "broadcast_arrays", "allclose", "equal", "array_equal"}
_UNTOUCHED_FIELDS = {"decorator_list", "annotation", "returns", "type_params"}
_PRINTS = {"__repr__", "__str__", "message"}
_LONG_ENOUGH = 30  # characters of source that tell where a mutation is


@dataclass(frozen=True)
class Mutation:
    """One error: what kind, in which function or class, the code before and after, its number in the file, its lines.

    Lines are those that run it; none where importing the module does.
    """

    number: int
    kind: str
    where: str
    before: str
    after: str
    lines: tuple[int, ...]

    @property
    def key(self) -> str:
        """What names the mutation for as long as its line of code stands, whatever happens around it."""
        return f"{self.where}: {self.before} → {self.after}"


@dataclass(frozen=True, eq=False)
class _Site:
    """A node that can be replaced, and the nodes around it, innermost last."""

    node: ast.AST
    owner: ast.AST
    field: str
    index: int | None
    around: tuple[ast.AST, ...]

    def put(self, node: ast.AST) -> None:
        if self.index is None:
            setattr(self.owner, self.field, node)
        else:
            getattr(self.owner, self.field)[self.index] = node


def mutations(source: str) -> list[Mutation]:
    """Return every mutation of a module."""
    found, seen = [], Counter[str]()
    for number, (site, kind, node) in enumerate(_every(ast.parse(source))):
        where = ".".join(around.name for around in site.around if isinstance(around, _NAMED)) or "module"
        context = _context(site)
        before = _one_line(context)
        site.put(node)
        after = _one_line(node if context is site.node else context)
        site.put(site.node)
        mutation = Mutation(number, kind, where, before, after, _lines(site))
        seen[mutation.key] += 1
        if seen[mutation.key] > 1:
            mutation = replace(mutation, where=f"{where} ({seen[mutation.key]})")
        found.append(mutation)
    return found


def mutate(source: str, number: int) -> str:
    """Return the source with one mutation."""
    tree = ast.parse(source)
    for i, (site, _, node) in enumerate(_every(tree)):
        if i == number:
            site.put(node)
            return ast.unparse(ast.fix_missing_locations(tree))
    raise ValueError(f"A mutation must be one of {len(mutations(source))}: found number {number}.")


_NAMED = (ast.FunctionDef, ast.ClassDef)


def _every(tree: ast.Module) -> Iterator[tuple[_Site, str, ast.AST]]:
    for site in list(_sites(tree, ())):
        for kind, node in _changes(site):
            yield site, kind, node


def _context(site: _Site) -> ast.AST:
    """Return what tells where a site is: as little around it as is long enough, and no more than its statement."""
    for node in (site.node, *reversed(site.around)):
        if isinstance(node, ast.stmt | ast.comprehension) or len(_one_line(node)) >= _LONG_ENOUGH:
            return node
    return site.node


def _lines(site: _Site) -> tuple[int, ...]:
    """Return the lines of a site's statement, without a body; of what a function takes, the lines of its body."""
    if not any(isinstance(node, ast.FunctionDef) for node in site.around):
        return ()
    statement = next(node for node in (site.node, *reversed(site.around)) if isinstance(node, ast.stmt))
    first, last = statement.lineno, statement.end_lineno or statement.lineno
    if isinstance(statement, ast.FunctionDef):
        first = statement.body[0].lineno
    elif body := getattr(statement, "body", None):
        last = max(first, body[0].lineno - 1)
    return tuple(range(first, last + 1))


def _one_line(node: ast.AST) -> str:
    """Return source in one line; of what has a body, its head."""
    if isinstance(node, ast.match_case | ast.ExceptHandler):
        return type(node).__name__
    return ast.unparse(ast.fix_missing_locations(node)).strip().split("\n")[0]


def _sites(owner: ast.AST, around: tuple[ast.AST, ...]) -> Iterator[_Site]:
    """Yield what may be changed under a node."""
    inside = (*around, owner)
    for field, value in ast.iter_fields(owner):
        if field in _UNTOUCHED_FIELDS:
            continue
        for index, node in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if not isinstance(node, ast.AST) or _is_left_alone(node):
                continue
            yield _Site(node, owner, field, index, inside)
            if not isinstance(node, ast.Raise):
                yield from _sites(node, inside)


def _is_left_alone(node: ast.AST) -> bool:
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Assert() | ast.JoinedStr():
            return True
        case ast.Expr(value=ast.Constant()):  # docstrings, and the body of a protocol's methods
            return True
        case ast.FunctionDef(name=name):
            return name in _PRINTS
        case ast.Assign(targets=[ast.Name(id="__all__")]):
            return True
        case ast.Call(func=ast.Name(id="field")):
            return True
        case ast.keyword(arg=arg):
            return arg in _IDLE_KEYWORDS
    return False


def _changes(site: _Site) -> Iterator[tuple[str, ast.AST]]:
    """Yield what a node may become, each with the kind of change."""
    match site.node:
        case ast.Compare():
            yield from _compared(site.node)
        case ast.BoolOp() | ast.UnaryOp() | ast.BinOp():
            yield from _operators(site.node)
        case ast.Constant(value=value):
            yield from _constants(value)
        case ast.Call():
            yield from _calls(site.node)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield "condition", ast.IfExp(test, orelse, body)
        case ast.comprehension(target=target, iter=every, ifs=[_, *_], is_async=is_async):
            yield "condition", ast.comprehension(target, every, [], is_async)
        case ast.stmt():
            yield from _statements(site.node)


def _operators(node: ast.BoolOp | ast.UnaryOp | ast.BinOp) -> Iterator[tuple[str, ast.AST]]:
    match node:
        case ast.BoolOp(op=op, values=values):
            yield "logic", ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert() as op, operand=operand):
            yield "arithmetic" if isinstance(op, ast.USub) else "logic", operand
        case ast.BinOp(op=op, left=left, right=right) if type(op) in _ARITHMETIC and not _is_text(left, right):
            yield "arithmetic", ast.BinOp(left, _ARITHMETIC[type(op)](), right)


def _compared(node: ast.Compare) -> Iterator[tuple[str, ast.AST]]:
    for i, op in enumerate(node.ops):
        for other in _COMPARISONS[type(op)]:
            yield "comparison", ast.Compare(node.left, [*node.ops[:i], other(), *node.ops[i + 1 :]], node.comparators)


def _is_text(*nodes: ast.AST) -> bool:
    """Whether strings are joined: what messages are made of."""
    return any(
        isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))
        for node in nodes
    )


def _constants(value: object) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(value, bool):
        yield "constant", ast.Constant(not value)
    elif isinstance(value, int):
        yield "constant", ast.Constant(value + 1)
        if value > 0:
            yield "constant", ast.Constant(value - 1)
    elif isinstance(value, float):
        yield "constant", ast.Constant(value + 1)


def _calls(node: ast.Call) -> Iterator[tuple[str, ast.AST]]:
    match node.func:
        case ast.Name(id=name) if name in _OTHER_NAME:
            yield "function", ast.Call(ast.Name(_OTHER_NAME[name], ast.Load()), node.args, node.keywords)
        case ast.Attribute(value=value, attr=name) if name in _OTHER_NAME:
            yield "function", ast.Call(ast.Attribute(value, _OTHER_NAME[name], ast.Load()), node.args, node.keywords)
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    if len(node.args) > 1 and name not in _SYMMETRIC:
        first, second, *rest = node.args
        if ast.dump(first) != ast.dump(second) and not isinstance(first, ast.Starred):
            yield "argument", ast.Call(node.func, [second, first, *rest], node.keywords)
    for i, keyword in enumerate(node.keywords):
        if keyword.arg is not None and keyword.arg not in _IDLE_KEYWORDS:
            yield "argument", ast.Call(node.func, node.args, [*node.keywords[:i], *node.keywords[i + 1 :]])


def _statements(node: ast.stmt) -> Iterator[tuple[str, ast.AST]]:
    match node:
        case ast.Return(value=ast.Constant(value=None) | None):
            return
        case ast.Return():
            yield "return value", ast.Return(ast.Constant(None))
        case ast.Expr() | ast.AugAssign() | ast.Raise() | ast.Delete() | ast.Break() | ast.Continue():
            yield "statement", ast.Pass()
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield "statement", ast.Pass()
        case ast.If(test=test, body=body, orelse=orelse) if not isinstance(test, ast.Compare | ast.UnaryOp):
            yield "condition", ast.If(ast.UnaryOp(ast.Not(), test), body, orelse)
