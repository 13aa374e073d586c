import { randomUUID } from 'node:crypto';
import type { SeededRandom } from '../../support/seeded-random.ts';
import type { Roster } from './world.ts';

const DAY = 86_400_000;
/** What actions say, and phrases that are in some of them. */
const VERBS = ['posted', 'went home', 'came  HOME again', 'homework'] as const;
export const PHRASES = ['posted', 'home', 'Went Home', 'home again'] as const;
const SCOPES = ['PUBLIC', 'FOLLOWERS', 'FOLLOWERS', 'TEAM', 'DEPARTMENT', 'RESTRICTED'] as const;

/** An action as a service would send it, of any scope. */
export function publicationOf({ readers, sites }: Roster, random: SeededRandom, actorId: string) {
  const scope = actorId.startsWith('temporary') ? 'FOLLOWERS' : random.pick(SCOPES);
  const some = (): string[] => readers.filter(() => random.next() < 0.25);
  return {
    actorId,
    scope,
    // Of the run, not of the seed: a second run on the same database would replay otherwise.
    idempotencyKey: randomUUID(),
    ...(random.next() < 0.2
      ? { conducted: new Date(Date.now() - random.below(20) * DAY).toISOString() }
      : {}),
    recipients: scope === 'RESTRICTED' ? [random.pick(readers), ...some()].filter(isFirst) : [],
    mentions: random.next() < 0.2 ? some() : [],
    refs: random.next() < 0.5 ? [{ id: random.pick(sites), type: 'site', label: 'Site' }] : [],
    ...(random.next() < 0.15 ? { expiresAt: soonOrMuchLater(random) } : {}),
    descriptor: { custom: { verb: random.pick(VERBS), objectType: 'post', objectId: 'p', data: {} } },
  };
}

/** So that it comes while something happens, or after everything. */
export function soonOrMuchLater(random: SeededRandom): string {
  return new Date(
    Date.now() + (random.next() < 0.7 ? 1_000 + random.below(15_000) : 3_600_000),
  ).toISOString();
}

/** What an edit changes: whom the action is for, or what it refers to, or both. */
export function editOf(roster: Roster, random: SeededRandom) {
  const { scope, recipients, mentions, refs, descriptor } = publicationOf(roster, random, '');
  const isForOthers = random.next() < 0.7;
  return {
    ...(isForOthers ? { scope, recipients, mentions } : {}),
    ...(!isForOthers || random.next() < 0.5 ? { refs } : {}),
    ...(random.next() < 0.2 ? { descriptor } : {}),
    ...(random.next() < 0.2 ? { expiresAt: random.pick([null, soonOrMuchLater(random)]) } : {}),
  };
}

function isFirst(value: string, index: number, all: readonly string[]): boolean {
  return all.indexOf(value) === index;
}
