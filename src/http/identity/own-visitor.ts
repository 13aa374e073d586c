import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { endianness } from 'node:os';
import { isLoopbackName } from '../exchange/cors.ts';

/** Set by proxies: then the address is the proxy's. */
const FORWARDING = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip'];
/** In the state column of the tables below. */
const ESTABLISHED = '01';

/** Both ends of a connection. */
export type ConnectionEnds = Pick<Socket, 'remoteAddress' | 'remotePort' | 'localAddress' | 'localPort'>;

/**
 * Whether the user who started this process opened a page by hand on the same machine; the page may then contain what was
 * printed on their terminal. Not for pages of other origins, for a name that points to this machine (DNS rebinding), behind
 * a proxy and, where the system can tell, for other users of the machine.
 */
export async function isOwnVisitor(headers: Headers, connection: ConnectionEnds): Promise<boolean> {
  if (!isLoopbackAddress(connection.remoteAddress ?? '') || !isLoopbackHost(headers.get('host')))
    return false;
  if (FORWARDING.some((name) => headers.has(name))) return false;
  if (!['none', 'same-origin', null].includes(headers.get('sec-fetch-site'))) return false;
  if (!['document', null].includes(headers.get('sec-fetch-dest'))) return false;
  return isOwnUser(connection);
}

function isLoopbackAddress(address: string): boolean {
  return address === '::1' || /^(?:::ffff:)?127(?:\.\d{1,3}){3}$/.test(address);
}

function isLoopbackHost(host: string | null): boolean {
  const url = `http://${host ?? ''}`;
  return URL.canParse(url) && isLoopbackName(new URL(url).hostname);
}

/** Linux can tell the user of a connection. On other systems all users of the machine are treated alike. */
async function isOwnUser(connection: ConnectionEnds): Promise<boolean> {
  if (process.platform !== 'linux') return true;
  const user = await userOf(connection);
  return user !== null && user === process.getuid?.();
}

/**
 * User of the other end of a local connection; `null` when it is not listed. Only an open connection has a user: the rows of
 * ended ones say 0, and so does one that no process holds any more (inode 0). Another connection may have the same ports at
 * other loopback addresses.
 */
async function userOf({
  remoteAddress,
  remotePort,
  localAddress,
  localPort,
}: ConnectionEnds): Promise<number | null> {
  const visitor = endOf(remoteAddress, remotePort);
  const server = endOf(localAddress, localPort);
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    const text = await readFile(table, 'latin1').catch(() => '');
    for (const line of text.split('\n')) {
      // Such as: 0: 0100007F:0FA0 0100007F:D431 01 00000000:00000000 00:00000000 00000000 1000 0 123456 …
      const [, near, far, state, , , , user, , inode] = line.trim().split(/\s+/);
      if (state !== ESTABLISHED || inode === '0') continue;
      if (listedEnd(near) === visitor && listedEnd(far) === server) return Number(user);
    }
  }
  return null;
}

/** IPv4 as it is, also where IPv6 carries it, in the hexadecimal digits of the tables but in the order of the network. */
function endOf(address = '', port = 0): string {
  const dotted = /^(?:::ffff:)?(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address)?.slice(1);
  const digits =
    dotted?.map((part) => Number(part).toString(16).padStart(2, '0')).join('') ??
    (address === '::1' ? IPV6_LOOPBACK : address);
  return `${digits}:${String(port)}`;
}

const IPV6_LOOPBACK = '1'.padStart(32, '0');
const IPV4_IN_IPV6 = `${'0'.repeat(20)}ffff`;

/** An end as a table has it: four bytes at a time, each four in the order of the processor; then the port. */
function listedEnd(end = ''): string {
  const [address = '', port = ''] = end.split(':');
  const words = Buffer.from(address, 'hex');
  if (endianness() === 'LE') words.swap32();
  const digits = words.toString('hex');
  const short = digits.startsWith(IPV4_IN_IPV6) ? digits.slice(IPV4_IN_IPV6.length) : digits;
  return `${short}:${String(Number.parseInt(port, 16))}`;
}
