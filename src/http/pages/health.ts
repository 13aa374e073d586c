/** Resolves when the thing it asks is fine, rejects when not. */
export type Probe = () => Promise<unknown>;
export type Probes = Readonly<Record<string, Probe>>;

export interface Readiness {
  readonly isReady: boolean;
  readonly checks: Readonly<Record<string, 'ok' | 'failed'>>;
}

/** A probe that takes longer than this, in milliseconds, has failed. */
const PROBE_TIMEOUT_MS = 2_000;

export async function checkReadiness(probes: Probes): Promise<Readiness> {
  const checks = await Promise.all(
    Object.entries(probes).map(
      async ([name, probe]) => [name, (await passes(probe)) ? 'ok' : 'failed'] as const,
    ),
  );
  return { isReady: checks.every(([, state]) => state === 'ok'), checks: Object.fromEntries(checks) };
}

async function passes(probe: Probe): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, PROBE_TIMEOUT_MS, false);
  });
  try {
    return await Promise.race([probe().then(() => true), timeout]);
  } catch {
    // The answer says which probe failed; the part it asks logs why.
    return false;
  } finally {
    clearTimeout(timer);
  }
}
