import { expect, test } from 'vitest';
import { turn, TURN_MS } from '../../../src/lib/turn.ts';

function work(ms: number): void {
  const since = performance.now();
  while (performance.now() - since < ms);
}

test('all long work together has the time of one turn, and who has waited longest goes on first', async () => {
  const seen: string[] = [];
  const run = async (name: string): Promise<void> => {
    for (let step = 0; step < 3; step += 1) {
      if (turn.isOver()) await turn.next();
      seen.push(name);
      work(TURN_MS + 1);
    }
  };
  const turns = async (): Promise<void> => {
    for (let count = 0; count < 20; count += 1) {
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      seen.push('|');
    }
  };
  await Promise.all([run('a'), run('b'), run('c'), turns()]);
  // Never two in one turn of the event loop; the first step of all was taken before any.
  expect(seen.join('')).toMatch(/^aa(\|+[abc])*\|*$/);
  expect(seen.filter((name) => name !== '|').join('')).toBe('aabcabcbc');
});
