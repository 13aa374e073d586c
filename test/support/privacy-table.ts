import type { Viewer } from './privacy-world.ts';

/**
 * What somebody has of an action. `feed`: it is in their feed, and there for them by every other way in. `page`: it is
 * there by every way but the feed. `no`: there is no such action, whatever they do.
 */
export type Sight = 'feed' | 'page' | 'no';

export const SCOPES = ['PUBLIC', 'FOLLOWERS', 'TEAM', 'DEPARTMENT', 'RESTRICTED'] as const;

/** Of an action that is published after the former followers have left. */
// prettier-ignore
export const AFTER: Readonly<Record<Viewer, readonly Sight[]>> = {
  //                                     PUBLIC  FOLLOWERS TEAM   DEPARTMENT RESTRICTED
  'actor':                               ['page', 'page',  'feed', 'feed',   'page'],
  'follower of the site':                ['feed', 'feed',  'no',   'no',     'no'],
  'former follower, history kept':       ['page', 'no',    'no',   'no',     'no'],
  'former follower, history taken back': ['page', 'no',    'no',   'no',     'no'],
  'team mate':                           ['page', 'no',    'feed', 'no',     'no'],
  'department colleague':                ['page', 'no',    'no',   'feed',   'no'],
  'recipient':                           ['page', 'no',    'no',   'no',     'feed'],
  'mentioned':                           ['feed', 'feed',  'feed', 'feed',   'feed'],
  'mentioned, but mutes the actor':      ['page', 'page',  'page', 'page',   'page'],
  'follower of who passes it on':        ['feed', 'no',    'no',   'no',     'no'],
  'stranger':                            ['page', 'no',    'no',   'no',     'no'],
  'service':                             ['page', 'no',    'no',   'no',     'no'],
  'admin':                               ['page', 'page',  'page', 'page',   'page'],
};

/** Of one that was published before: the same, but for who had followed the actor and kept what came. */
// prettier-ignore
export const BEFORE: typeof AFTER = {
  ...AFTER,
  'former follower, history kept':       ['feed', 'feed',  'no',   'no',     'no'],
};

export function sightOf(table: typeof AFTER, viewer: Viewer, scope: (typeof SCOPES)[number]): Sight {
  const sight = table[viewer][SCOPES.indexOf(scope)];
  if (sight === undefined) throw new Error(`Nothing is said of ${viewer} and ${scope}`);
  return sight;
}
