/** Resolves when the checked part works, rejects otherwise. */
export type Probe = () => Promise<unknown>;
export type Probes = Readonly<Record<string, Probe>>;

export interface Readiness {
  readonly isReady: boolean;
  readonly checks: Readonly<Record<string, 'ok' | 'failed'>>;
}

/** A probe that takes longer counts as failed, in milliseconds. */
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
    // The answer names the failed probe; the checked part logs the reason.
    return false;
  } finally {
    clearTimeout(timer);
  }
}
