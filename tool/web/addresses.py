"""Which addresses a tool may connect to: the public internet, and nothing that lies beside us.

The predicates of `ipaddress` are not used: they differ between versions of Python, say nothing of a
mapped address, and call several private ranges global.
"""

from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Network = IPv4Network | IPv6Network

_BLOCKED = {
    "this network": ("0.0.0.0/8",),
    "unspecified": ("::/128",),
    "loopback": ("127.0.0.0/8", "::1/128"),
    "private": ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "fec0::/10"),
    "link-local, where clouds serve metadata": ("169.254.0.0/16", "fe80::/10"),
    "multicast": ("224.0.0.0/4", "ff00::/8"),
    "carrier-grade NAT": ("100.64.0.0/10",),
    "protocol assignments": ("192.0.0.0/24", "2001::/23"),
    "documentation": (
        "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32", "3fff::/20",
    ),
    "benchmarking": ("198.18.0.0/15",),
    "a relay of 6to4": ("192.88.99.0/24",),
    "reserved": ("240.0.0.0/4",),
    "6to4, which embeds an IPv4 address": ("2002::/16",),
    "Teredo, which embeds an IPv4 address": ("2001::/32",),
    "IPv4-compatible, which embeds an IPv4 address": ("::/96",),
    "translated, which embeds an IPv4 address": (
        "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48",
    ),
    "discard-only": ("100::/64",),
    "segment routing": ("5f00::/16",),
}  # fmt: skip
_TABLE = [(ip_network(text), kind) for kind, texts in _BLOCKED.items() for text in texts]
# Of several that hold an address the narrowest says best what it is.
_TABLE.sort(key=lambda row: row[0].prefixlen, reverse=True)
_GLOBAL_UNICAST = IPv6Network("2000::/3")


def blocked_as(address: str) -> str | None:
    """What kind of address this is, if tools must not reach it; None for a public one.

    An IPv4 address that is mapped into IPv6 is judged as the IPv4 address.

    Raises:
        ValueError: it is no address.
    """
    plain = ip_address(address.partition("%")[0])
    if isinstance(plain, IPv6Address):
        plain = plain.ipv4_mapped or plain
    for network, kind in _TABLE:
        if plain in network:
            return kind
    if isinstance(plain, IPv6Address) and plain not in _GLOBAL_UNICAST:
        return "not assigned to the public internet"
    return None


def is_within(address: str, networks: tuple[Network, ...]) -> bool:
    """Whether an address lies in one of the networks; a mapped one counts as IPv4."""
    plain = ip_address(address.partition("%")[0])
    if isinstance(plain, IPv6Address):
        plain = plain.ipv4_mapped or plain
    return any(plain in network for network in networks)
