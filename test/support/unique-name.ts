import { randomBytes } from 'node:crypto';

/** A name no other test of any process uses. */
export function uniqueName(prefix: string): string {
  return `${prefix}_${randomBytes(6).toString('hex')}`;
}
