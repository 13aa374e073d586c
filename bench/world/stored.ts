import type { RawWorld } from './raw.ts';

const GIVE_UP_MS = 10 * 60_000;
const POLL_MS = 50;

/** Resolves when so many items are stored and no fan-out is open. */
export async function waitUntilStored({ items, actions }: RawWorld, count: number): Promise<void> {
  const giveUp = Date.now() + GIVE_UP_MS;
  for (;;) {
    const open = await actions.countDocuments({
      'fanOut.state': { $in: ['PENDING', 'IN_PROGRESS'] },
      'fanOut.leaseUntil': { $exists: true },
    });
    if (open === 0) break;
    if (Date.now() > giveUp) throw new Error(`${String(open)} fan-outs did not end`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  const stored = await items.countDocuments({});
  if (stored !== count) throw new Error(`${String(stored)} items are stored instead of ${String(count)}`);
}
