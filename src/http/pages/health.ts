import { within } from '../../lib/within.ts';

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
  try {
    const passed = probe().then(() => true);
    return await within(PROBE_TIMEOUT_MS, passed, false);
  } catch {
    // The answer names the failed probe; the checked part logs the reason.
    return false;
  }
}
