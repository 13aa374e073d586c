import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv4, isIPv6, SocketAddress } from 'node:net';

/** Finds out which address a request comes from. */
export type AddressOf = (req: IncomingMessage) => string;

/**
 * The address of the client: that of the connection, or, if it is a proxy's, the last one in X-Forwarded-For that is not a
 * proxy's. Anybody can send that header, so it counts only as far as proxies have written it.
 * @param proxies addresses, and networks such as 10.0.0.0/8
 */
export function createAddressOf(proxies: readonly string[]): AddressOf {
  const trusted = blockListOf(proxies);
  const isProxy = (address: string): boolean =>
    isIP(address) !== 0 && trusted.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
  return ({ socket, headers }) => {
    let address = plainAddress(socket.remoteAddress ?? '');
    if (proxies.length === 0 || !isProxy(address)) return address;
    const forwarded = [headers['x-forwarded-for'] ?? []].flat().join(',').split(',');
    while (isProxy(address)) {
      const before = plainAddress(forwarded.pop()?.trim() ?? '');
      if (isIP(before) === 0) break;
      address = before;
    }
    return address;
  };
}

function blockListOf(proxies: readonly string[]): BlockList {
  const list = new BlockList();
  for (const proxy of proxies) {
    const [address = '', prefix] = proxy.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return list;
}

/** Without a zone, and without the prefix that an IPv4 address has on a socket for both. */
function plainAddress(given: string): string {
  // Parsing takes longer than all the rest, and nearly all addresses need none.
  const mapped4 = given.startsWith('::ffff:') ? given.slice('::ffff:'.length) : given;
  if (isIPv4(mapped4)) return mapped4;
  const [address = ''] = given.split('%');
  if (!isIPv6(address)) return address;
  const canonical = new SocketAddress({ address, family: 'ipv6' }).address;
  const mapped = canonical.replace(/^::ffff:/, '');
  return isIPv4(mapped) ? mapped : canonical;
}

const GROUPS = 8;
const GROUPS_OF_NETWORK = 4;

/** The network as which an address is counted. A client with IPv6 has a whole network of 64 bits and changes its address as it likes. */
export function networkOf(given: string): string {
  const address = plainAddress(given);
  if (!isIPv6(address)) return address;
  const [front, back] = address.split('::').map((half) => half.split(':'));
  const groups = front ?? [];
  const filler = Array<string>(Math.max(0, GROUPS - groups.length - (back?.length ?? 0))).fill('0');
  const network = [...groups, ...filler, ...(back ?? [])].slice(0, GROUPS_OF_NETWORK);
  return `${network.map((group) => group || '0').join(':')}::/64`;
}
