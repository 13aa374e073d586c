import { existsSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect } from 'vitest';
import { NOTIFICATION_KINDS } from '../../src/domain/notification.ts';
import { KINDS } from './model-whole-story.ts';
import { noteReasons } from './used-reasons.ts';

const PREFIX = 'history';

/** What random histories are to reach. */
const WANTED: readonly string[] = [...Object.keys(KINDS), ...NOTIFICATION_KINDS];

/** Notes kinds of steps and of notifications that a history of the current file has reached. */
export function noteReached(kinds: readonly string[]): void {
  const { testPath = '' } = expect.getState();
  noteReasons(kinds.map((kind) => [PREFIX, basename(testPath), kind].join('\t')));
}

/** Prints what the histories of each file have not reached, and those of no file. */
export function reportReached(path: string): void {
  const reached = new Map<string, Set<string>>();
  for (const line of existsSync(path) ? readFileSync(path, 'utf8').split('\n') : []) {
    const [prefix, file = '', kind = ''] = line.split('\t');
    if (prefix === PREFIX) reached.set(file, (reached.get(file) ?? new Set()).add(kind));
  }
  const missing = (of: ReadonlySet<string>): string[] => WANTED.filter((kind) => !of.has(kind));
  for (const [file, kinds] of reached)
    console.log(
      `${String(kinds.size)} of ${String(WANTED.length)} kinds: ${file}. Not: ${missing(kinds).join(' ')}`,
    );
  const all = new Set([...reached.values()].flatMap((kinds) => [...kinds]));
  if (all.size > 0) console.log(`No random history has reached: ${missing(all).join(' ')}`);
}
