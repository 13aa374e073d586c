import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { OnEmbeddedEvent } from '../events.ts';

/**
 * Compares archives with what this repository knows of them. One that has a known name and other contents is refused, even if it
 * is signed. For one with an unknown name, a version that came out later, apt has checked Debian's signature only, which is said.
 */
export function checkPackages(
  archives: readonly string[],
  pins: Readonly<Record<string, string>>,
  onEvent: OnEmbeddedEvent,
): void {
  const unknown: string[] = [];
  for (const archive of archives) {
    const name = basename(archive);
    const expected = pins[name];
    if (expected === undefined) {
      unknown.push(name);
      continue;
    }
    const found = createHash('sha256').update(readFileSync(archive)).digest('hex');
    if (found !== expected)
      throw new Error(`The package ${name} has the SHA-256 ${found}, expected ${expected}: it is rejected.`);
  }
  if (unknown.length === 0) return;
  const some = unknown.slice(0, 3).join(', ');
  const message = `${String(unknown.length)} of ${String(archives.length)} packages are not those this version was tested with, so only Debian's signature was checked: ${some}${unknown.length > 3 ? ', …' : ''}`;
  onEvent({ step: 'prepare', message });
}
