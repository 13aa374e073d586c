import type { Claim, FanOutsRepository } from '../storage/fan-outs.ts';

export interface Lease extends Disposable {
  /** False once the lease may have been taken over. Goes by the local clock when the database does not answer. */
  isHeld(): boolean;
}

/** Renews the lease of a claim, three times within its length, until disposed. */
export function holdLease(fanOuts: Pick<FanOutsRepository, 'renew'>, claim: Claim, leaseMs: number): Lease {
  let heldUntil = performance.now() + leaseMs;
  let isLost = false;
  const timer = setInterval(() => {
    const startedAt = performance.now();
    fanOuts.renew(claim, new Date(Date.now() + leaseMs)).then(
      (isRenewed) => {
        if (isRenewed) heldUntil = startedAt + leaseMs;
        else isLost = true;
      },
      () => {
        // A database that does not answer has not renewed: `heldUntil` says when the lease is over.
      },
    );
  }, leaseMs / 3);
  return {
    isHeld: () => !isLost && performance.now() < heldUntil,
    [Symbol.dispose]: () => {
      clearInterval(timer);
    },
  };
}
