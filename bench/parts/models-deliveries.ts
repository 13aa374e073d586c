import type { PublishActionInput } from '../../src/services/shapes.ts';
import { alternate, type Series } from '../harness/rounds.ts';
import { now } from '../harness/statistics.ts';
import { publishAll, type ModelWorld } from '../world/models.ts';

export interface Deliveries {
  /** Entries a second, a figure for each piece but the first. */
  readonly rates: readonly Series[];
  /** Entries delivered of all pieces together, the same in every model. */
  readonly delivered: number;
}

/**
 * From the call of publishActions to the last fan-out's DONE, piece by piece. All models are given each piece
 * in turn; the first one is the warm-up.
 */
export async function measureDeliveries(
  worlds: readonly ModelWorld[],
  actions: readonly PublishActionInput[],
  pieces: number,
): Promise<Deliveries> {
  const length = Math.ceil(actions.length / pieces);
  const delivered = new Map<string, number>();
  const rates = await alternate(
    worlds.map(({ model, fanfare }) => ({
      name: model,
      measure: async (round) => {
        const from = now();
        const entries = await publishAll(fanfare, actions.slice((round + 1) * length, (round + 2) * length));
        delivered.set(model, (delivered.get(model) ?? 0) + entries);
        return entries / ((now() - from) / 1_000);
      },
    })),
    { rounds: pieces - 1, warmUp: 1 },
  );
  const [first = 0, ...others] = delivered.values();
  if (others.some((count) => count !== first))
    throw new Error('The models were not given the same deliveries');
  return { rates, delivered: first };
}
