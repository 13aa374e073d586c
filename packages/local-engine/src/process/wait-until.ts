import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 20;

/** Polls until `test` gives true; false when that took longer than `withinMs`. */
export async function waitUntil(test: () => boolean | Promise<boolean>, withinMs: number): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  while (!(await test())) {
    if (performance.now() > deadline) return false;
    await delay(POLL_MS);
  }
  return true;
}
