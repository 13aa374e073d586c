import { readFile } from 'node:fs/promises';
import type { Caller } from './caller.ts';
import { isLoopbackName } from '../exchange/cors.ts';

/** Set by proxies: then the address is the proxy's. */
const FORWARDING = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip'];

/**
 * Whether the user who started this process opened a page by hand on the same machine; the page may then contain what was
 * printed on their terminal. Not for pages of other origins, for a name that points to this machine (DNS rebinding), behind
 * a proxy and, where the system can tell, for other users of the machine.
 */
export async function isOwnVisitor(
  headers: Headers,
  { address, ports }: Pick<Caller, 'address' | 'ports'>,
): Promise<boolean> {
  if (!isLoopbackAddress(address) || !isLoopbackHost(headers.get('host'))) return false;
  if (FORWARDING.some((name) => headers.has(name))) return false;
  if (!['none', 'same-origin', null].includes(headers.get('sec-fetch-site'))) return false;
  if (!['document', null].includes(headers.get('sec-fetch-dest'))) return false;
  return isOwnUser(ports);
}

function isLoopbackAddress(address: string): boolean {
  return address === '::1' || /^(?:::ffff:)?127(?:\.\d{1,3}){3}$/.test(address);
}

function isLoopbackHost(host: string | null): boolean {
  const url = `http://${host ?? ''}`;
  return URL.canParse(url) && isLoopbackName(new URL(url).hostname);
}

/** Linux can tell the user of a connection. On other systems all users of the machine are treated alike. */
async function isOwnUser(ports: Caller['ports']): Promise<boolean> {
  if (process.platform !== 'linux') return true;
  const own = process.getuid?.();
  const user = ports === undefined ? null : await userOf(ports);
  return user !== null && (user === own || user === 0);
}

/** User of the other end of a local connection; `null` when it is not listed. */
async function userOf({ remote, local }: NonNullable<Caller['ports']>): Promise<number | null> {
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    const text = await readFile(table, 'latin1').catch(() => '');
    for (const line of text.split('\n')) {
      // Such as: 0: 0100007F:0FA0 0100007F:D431 01 00000000:00000000 00:00000000 00000000 1000 …
      const [, near, far, , , , , user] = line.trim().split(/\s+/);
      if (portOf(near) === remote && portOf(far) === local) return Number(user);
    }
  }
  return null;
}

function portOf(end: string | undefined): number {
  return Number.parseInt(end?.split(':')[1] ?? '', 16);
}
