import type { InteractionKind } from '@fanfare/client';
import type { FanfareAction } from '../item.ts';
import type { Write } from './actions.ts';

type Engagement = FanfareAction['engagement'];

/**
 * What an interaction that is given once (a like, a reshare, a reaction) makes of an action. It says what is so and does
 * not count: applied to a state that has it already, it changes nothing.
 */
export function interactionWrite(kind: InteractionKind, isGiven: boolean, reaction = ''): Write {
  return {
    apply: (action) => {
      if (hasGiven(action, kind, reaction) === isGiven) return action;
      const { viewer, engagement } = action;
      const by = isGiven ? 1 : -1;
      if (kind === 'LIKE')
        return {
          ...action,
          viewer: { ...viewer, hasLiked: isGiven },
          engagement: { ...engagement, likes: engagement.likes + by },
        };
      if (kind === 'RESHARE')
        return {
          ...action,
          viewer: { ...viewer, hasReshared: isGiven },
          engagement: { ...engagement, reshares: engagement.reshares + by },
        };
      const others = viewer.reactions.filter((one) => one !== reaction);
      return {
        ...action,
        viewer: { ...viewer, reactions: isGiven ? [...others, reaction] : others },
        engagement: { ...engagement, reactions: counted(engagement.reactions, reaction, by) },
      };
    },
  };
}

export function bookmarkWrite(isBookmarked: boolean): Write {
  return { apply: (action) => ({ ...action, viewer: { ...action.viewer, isBookmarked } }) };
}

export function hasGiven({ viewer }: FanfareAction, kind: InteractionKind, reaction: string): boolean {
  if (kind === 'LIKE') return viewer.hasLiked;
  if (kind === 'RESHARE') return viewer.hasReshared;
  return kind === 'REACTION' && viewer.reactions.includes(reaction);
}

function counted(reactions: Engagement['reactions'], reaction: string, by: number): Engagement['reactions'] {
  const count = (reactions.find((one) => one.reaction === reaction)?.count ?? 0) + by;
  const others = reactions.filter((one) => one.reaction !== reaction);
  return count > 0 ? [...others, { reaction, count }] : others;
}
