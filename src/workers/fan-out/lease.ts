export interface Lease extends Disposable {
  /** `false` once another worker has the action. An expired lease can still be renewed until then; asks when in doubt. */
  isHeld(): Promise<boolean>;
}

/** Renews a lease three times per lease period until disposed. @param extend resolves to false when the claim is void. */
export function holdLease(extend: () => Promise<boolean>, leaseMs: number): Lease {
  let ownedUntil = performance.now() + leaseMs;
  let isLost = false;
  let renewing: Promise<void> | null = null;

  async function renew(): Promise<void> {
    const startedAt = performance.now();
    if (await extend()) ownedUntil = startedAt + leaseMs;
    else isLost = true;
  }

  /** One request at a time: a slow database is not asked again before it has answered. */
  function renewOnce(): Promise<void> {
    renewing ??= renew().finally(() => {
      renewing = null;
    });
    return renewing;
  }

  const timer = setInterval(() => {
    renewOnce().catch(() => {
      // A failed renewal is not fatal: `heldUntil` says when the lease becomes doubtful.
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
