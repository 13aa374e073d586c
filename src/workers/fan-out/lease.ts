export interface Lease extends Disposable {
  /** False once another worker has the action; until then a lease that ran out can be renewed. Asks where in doubt. */
  isHeld(): Promise<boolean>;
}

/** Renews a lease three times within its length until disposed. @param extend false: the claim is void. */
export function holdLease(extend: () => Promise<boolean>, leaseMs: number): Lease {
  let ownedUntil = performance.now() + leaseMs;
  let isLost = false;
  let renewing: Promise<void> | null = null;

  async function renew(): Promise<void> {
    const startedAt = performance.now();
    if (await extend()) ownedUntil = startedAt + leaseMs;
    else isLost = true;
  }

  /** One at a time: a database that is slow is not asked again before it has answered. */
  function renewOnce(): Promise<void> {
    renewing ??= renew().finally(() => {
      renewing = null;
    });
    return renewing;
  }

  const timer = setInterval(() => {
    renewOnce().catch(() => {
      // A database that does not answer has not renewed: `heldUntil` says when the lease is in doubt.
    });
  }, leaseMs / 3);
  return {
    async isHeld() {
      if (!isLost && performance.now() >= ownedUntil) await renewOnce();
      return !isLost;
    },
    [Symbol.dispose]: () => {
      clearInterval(timer);
    },
  };
}
