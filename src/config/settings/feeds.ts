import { DEFAULT_REACTIONS } from '../../domain/interaction.ts';
import { DEFAULT_RANKING } from '../../domain/ranking.ts';
import { DEFAULT_WEIGHTS } from '../../domain/relevancy.ts';
import { duration, durationOrOff, reactions, text, weights, whole } from '../kinds.ts';
import { settingsOf } from '../setting.ts';

const { setting, optional } = settingsOf('Feeds');

const MODEL_NAME = /^[a-z][a-z-]*$/;

const { types: _types, ...TOP_DEFAULTS } = DEFAULT_RANKING;

function inWords(weights: Readonly<Record<string, number>>): string {
  return Object.entries(weights)
    .map(([name, weight]) => `${name}=${String(weight)}`)
    .join(',');
}

export const FEED_SETTINGS = {
  FEED_MODEL: setting(
    'items',
    text('the name of a feed model', MODEL_NAME),
    'How feeds are stored: items, pull, or another feed model; docs/feed-models.md compares them.',
    'feeds.model',
  ),
  CELEBRITY_THRESHOLD: setting(
    '10000',
    whole(0, 1_000_000_000),
    'Actions of refs with more followers than this are not pushed into feeds but pulled when feeds are read.',
    'feeds.celebrityThreshold',
  ),
  FEED_CAP: setting(
    '1000',
    whole(1, 1_000_000),
    'Number of newest entries stored per feed; below them, the feed is read from the actions.',
    'feeds.cap',
  ),
  DORMANT_AFTER: setting(
    '7d',
    duration('1s', '5200w'),
    'Readers who have not read for this long get no deliveries; their feed is rebuilt when they come back.',
    'feeds.dormantAfterMs',
  ),
  DORMANT_DROP_AFTER: setting(
    '90d',
    durationOrOff('1s', '5200w'),
    'Stored feeds of readers who have not read for this long are deleted; at least DORMANT_AFTER.',
    'feeds.dropAfterMs',
  ),
  NEVER_READ_AFTER: setting(
    'off',
    durationOrOff('1s', '5200w'),
    'Readers who have not read within this time after their first delivery get no more deliveries, and nothing is stored for them until they read.',
    'feeds.neverReadAfterMs',
  ),
  REACTIONS: setting(
    DEFAULT_REACTIONS.join(','),
    reactions(),
    'Reactions that members may give. Existing reactions stay when one is removed from the list.',
    'feeds.reactions',
  ),
  RELEVANCY_WEIGHTS: setting(
    inWords(DEFAULT_WEIGHTS),
    weights(DEFAULT_WEIGHTS, 1),
    'How much less an interaction boosts an action for readers whom the action does not concern, by kind: 0 boosts to the time of the interaction, 1 not at all, values between reduce the boost by that share of the time between action and interaction. A higher value does not lower stored items.',
    'feeds.relevancyWeights',
  ),
  TOP_WEIGHTS: setting(
    inWords(TOP_DEFAULTS),
    weights(TOP_DEFAULTS, 100),
    'Order TOP: weights of the logarithms of the counts (like, comment, reshare) and of the reader’s interactions with the actor (relationship), and the exponent of the age in hours (decay).',
  ),
  TOP_TYPES: optional(
    weights({}, 100, null),
    'Order TOP: factors by descriptor type, such as Posted=1.5,Liked=0.5.',
    { shownDefault: '1 for all' },
  ),
} as const;
