import type { Core } from '../../src/core/core.ts';
import type { Claim } from '../../src/fan-out/store/fan-outs.ts';

type FanOuts = Core['fanOuts'];

/** Claims one action; `null`: none is due. */
export async function claimOne(
  fanOuts: FanOuts,
  ...args: Parameters<FanOuts['claim']>
): Promise<Claim | null> {
  const { claims } = await fanOuts.claim(...args);
  return claims[0] ?? null;
}
