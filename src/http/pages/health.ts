import { within } from '../../lib/within.ts';
import { readOnly, sendJson, type Handler } from '../exchange/respond.ts';

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

interface ProbesOptions {
  readonly readiness: () => Promise<Readiness>;
  readonly isClosing: () => boolean;
}

/** The questions of orchestrators, by path. */
export function probeRoutes(options: ProbesOptions): [string, Handler][] {
  return [
    ['/health', readOnly((_req, res) => sendJson(res, 200, { status: 'ok' }, NO_STORE))],
    ['/ready', readOnly(answerReadiness(options))],
  ];
}

const NO_STORE = { 'cache-control': 'no-store' };

/** Concurrent requests share one run of the probes. */
function answerReadiness({ readiness, isClosing }: ProbesOptions): Handler {
  let asked: Promise<Readiness> | null = null;
  return async (_req, res) => {
    if (isClosing()) {
      sendJson(res, 503, { status: 'closing' }, NO_STORE);
      return;
    }
    asked ??= readiness().finally(() => {
      asked = null;
    });
    const { isReady, checks } = await asked;
    sendJson(res, isReady ? 200 : 503, { status: isReady ? 'ready' : 'not ready', checks }, NO_STORE);
  };
}
