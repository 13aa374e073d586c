import type { Core } from '../../core/core.ts';
import type { ActionId } from '../../domain/action.ts';
import { badInput } from '../../domain/errors.ts';
import { getAction, requireAction } from '../../feed/page/read-actions.ts';
import { labelOf } from '../../feed/page/read-page.ts';
import { viewNamed } from '../../feed/page/views.ts';
import type { ReaderSession } from '../../feed/session/reader-session.ts';
import { clock } from '../../lib/clock.ts';

/** Impressions of one call. */
export const MAX_IMPRESSIONS = 100;
const DAY_MS = 24 * 3_600_000;
const SHOWS_LESS_MS = 30 * DAY_MS;

interface AskedImpression {
  readonly actionId: ActionId;
  readonly view?: string | null | undefined;
  readonly ms?: number | null | undefined;
}

/**
 * Records what the reader was shown, once for each action, view and hour. What they may not see is left out.
 * @returns how many were recorded; 0 if the server keeps none
 * @throws FanfareError BAD_USER_INPUT, also for an unknown view
 */
export async function recordImpressions(
  core: Core,
  session: ReaderSession,
  impressions: readonly AskedImpression[],
): Promise<number> {
  if (impressions.length < 1 || impressions.length > MAX_IMPRESSIONS)
    throw badInput(
      `Must have from 1 to ${String(MAX_IMPRESSIONS)} entries, got ${String(impressions.length)}`,
      ['impressions'],
    );
  const asked = impressions.map(({ actionId, view, ms = null }, index) => {
    if (view != null) viewNamed(view);
    if (ms !== null && (ms < 0 || ms > DAY_MS))
      throw badInput(`Must be from 0 to ${String(DAY_MS)}`, ['impressions', index, 'ms']);
    return { actionId, view: view ?? '', ms };
  });
  if (!core.keepsImpressions) return 0;
  const once = new Map(asked.map((one) => [JSON.stringify([one.actionId, one.view]), one]));
  const seen = await Promise.all(
    [...once.values()].map(async (one) => ((await getAction(session, one.actionId)) === null ? [] : one)),
  );
  const shown = seen.flat();
  if (shown.length === 0) return 0;
  const fresh = await core.impressions.record(session.identity.userId, shown, clock.now());
  for (const { view } of fresh) core.onShown(view === '' ? labelOf(null) : view, 1);
  return fresh.length;
}

/**
 * Ranks actions of the same actor, and of the same type, lower for 30 days. Doing it again extends them.
 * @throws FanfareError NOT_FOUND
 */
export async function showLess(core: Core, session: ReaderSession, actionId: ActionId): Promise<void> {
  const { id } = await requireAction(session, actionId);
  await core.showsLess.add(session.identity.userId, id, new Date(clock.time() + SHOWS_LESS_MS));
}

/** Has no effect if there is nothing to take back. */
export async function undoShowLess(core: Core, session: ReaderSession, actionId: ActionId): Promise<void> {
  await core.showsLess.remove(session.identity.userId, actionId);
}
