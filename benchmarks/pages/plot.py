"""Plots as SVG."""

from collections.abc import Sequence

WIDTH, HEIGHT, LEFT, BOTTOM = 640, 260, 70, 40


def bars(points: Sequence[tuple[str, float]], *, across: str, up: str, digits: int = 1) -> str:
    """Draw one bar for each labelled number."""
    most = max(value for _, value in points)
    step = (WIDTH - LEFT) / len(points)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="8" y="{HEIGHT / 2}" transform="rotate(-90 14 {HEIGHT / 2})" text-anchor="middle">{up}</text>',
        f'<text x="{(WIDTH + LEFT) / 2}" y="{HEIGHT - 4}" text-anchor="middle">{across}</text>',
    ]
    for place, (label, value) in enumerate(points):
        height = (HEIGHT - BOTTOM - 24) * value / most
        x, y = LEFT + place * step + 4, HEIGHT - BOTTOM - height
        middle = x + (step - 8) / 2
        parts += [
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{step - 8:.1f}" height="{height:.1f}" fill="#4878a8"/>',
            f'<text x="{middle:.1f}" y="{y - 4:.1f}" text-anchor="middle">{value:.{digits}f}</text>',
            f'<text x="{middle:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{label}</text>',
        ]
    return "\n".join([*parts, "</svg>", ""])
