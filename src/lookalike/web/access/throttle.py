"""Limits by name and by address: waits that grow with each wrong password, and requests of programs in a second."""

import ipaddress
import threading
from collections import OrderedDict
from dataclasses import dataclass
from math import ceil

from lookalike.core.errors import AccessError
from lookalike.core.text import plural

FORGOTTEN = 60 * 60 * 1000
MOST = 20_000


@dataclass(frozen=True)
class Limit:
    """After `free` failures each further one makes the wait twice as long: 1 s, 2 s, ... up to `longest`."""

    free: int
    longest: int


NAME = Limit(5, 60_000)  # short, because anybody can fail with another person's name
ADDRESS = Limit(20, 15 * 60_000)  # many people may share an address


class LaterError(AccessError):
    """A request that can succeed later; `seconds` is how long to wait, `fix` what else to do first."""

    def __init__(self, problem: str, seconds: int, code: str, *, fix: str = "") -> None:
        super().__init__(problem, fix=fix or f"Wait {plural(seconds, 'second')} and try again.", code=code)
        self.seconds = seconds


class ThrottledError(LaterError):
    """Too many wrong passwords."""

    def __init__(self, seconds: int) -> None:
        super().__init__("Too many wrong passwords.", seconds, "throttled")


class Rate:
    """How much a client may ask for: `per_second` on average, and at most `burst` at once. In memory.

    It is a token bucket: every client has `burst` at first, and gets `per_second` back in a second. With too many
    clients the oldest are dropped.
    """

    def __init__(self, per_second: float, burst: int, most: int = MOST) -> None:
        self.per_second, self.burst, self._most = per_second, burst, most
        self._left: OrderedDict[str, tuple[float, int]] = OrderedDict()
        self._lock = threading.Lock()

    def spend(self, client: str, cost: int, now: int) -> None:
        """Count a request of some cost. One that costs more than `burst` needs all of it.

        Raises LaterError while the client has too little left.
        """
        with self._lock:
            left, last = self._left.pop(client, (float(self.burst), now))
            left = min(self.burst, left + self.per_second * max(0, now - last) / 1000)
            cost = min(cost, self.burst)
            self._left[client] = (left - cost if left >= cost else left, now)
            while len(self._left) > self._most:
                self._left.popitem(last=False)
        if left < cost:
            wait = ceil((cost - left) / self.per_second)
            raise LaterError(f"More than {self.per_second:g} requests in a second.", wait, "rate")


@dataclass
class _Failures:
    count: int
    last: int


class Throttle:
    """Failures of the last hour, in memory. With too many keys the oldest are dropped."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._known: OrderedDict[str, _Failures] = OrderedDict()
        self._lock = threading.Lock()

    def attempt(self, name: str, address: str, now: int) -> None:
        """Count an attempt as failed until it succeeds, so that parallel attempts count as well.

        Raises ThrottledError while the wait for this name or this address lasts.
        """
        keys = _keys(name, address)
        with self._lock:
            wait = max(self._wait(key, limit, now) for key, limit in keys)
            if wait > 0:
                raise ThrottledError(-(-wait // 1000))
            for key, _ in keys:
                self._fail(key, now)

    def succeeded(self, name: str, address: str) -> None:
        """The attempt succeeded: reset the name, and count one failure less for the address.

        The address is not reset, so that an attacker with an account cannot clear it by logging in.
        """
        (mine, _), (place, _) = _keys(name, address)
        with self._lock:
            self._known.pop(mine, None)
            if place in self._known:
                self._known[place].count -= 1

    def _wait(self, key: str, limit: Limit, now: int) -> int:
        known = self._known.get(key)
        if known is None or not 0 <= now - known.last < FORGOTTEN:
            self._known.pop(key, None)
            return 0
        over = known.count - limit.free
        return known.last + min(limit.longest, 1000 << min(over, 20)) - now if over >= 0 else 0

    def _fail(self, key: str, now: int) -> None:
        known = self._known.pop(key, None) or _Failures(0, now)
        self._known[key] = _Failures(known.count + 1, now)
        while len(self._known) > self._most:
            self._known.popitem(last=False)


def _keys(name: str, address: str) -> tuple[tuple[str, Limit], tuple[str, Limit]]:
    return (f"name {name.strip().casefold()[:60]}", NAME), (f"address {network(address)}", ADDRESS)


def network(address: str) -> str:
    """The network of one household or office: an IPv4 address, or the /64 of an IPv6 address.

    >>> network("192.0.2.7"), network("2001:db8:1:2:3::4")
    ('192.0.2.7', '2001:db8:1:2::/64')
    """
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address[:60]
    if isinstance(found, ipaddress.IPv6Address):
        return str(found.ipv4_mapped or ipaddress.ip_network((found, 64), strict=False))
    return str(found)
