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
    'How feeds are stored: items, capped, time-buckets, size-buckets, top-cache, redis or pull.',
  ),
  CELEBRITY_THRESHOLD: setting(
    '10000',
    whole(0, 1_000_000_000),
    'Actions of refs with more followers than this are not pushed into feeds but pulled when feeds are read.',
  ),
  FEED_CAP: setting(
    '1000',
    whole(1, 1_000_000),
    'Newest entries that are stored per feed; below them it is read from the actions.',
  ),
  DORMANT_AFTER: setting(
    '7d',
    duration('1s', '5200w'),
    'Readers who have not read for this long are not delivered to; their feed is rebuilt when they come back.',
  ),
  DORMANT_DROP_AFTER: setting(
    '90d',
    durationOrOff('1s', '5200w'),
    'What is stored of the feeds of readers who have not read for this long is deleted; at least DORMANT_AFTER.',
  ),
  NEVER_READ_AFTER: setting(
    'off',
    durationOrOff('1s', '5200w'),
    'How long after something first came to them readers who have never read are not delivered to, and nothing is stored for them, until they read.',
  ),
  REACTIONS: setting(
    DEFAULT_REACTIONS.join(','),
    reactions(),
    'The reactions that people may give. What was given stays when one is taken out.',
  ),
  RELEVANCY_WEIGHTS: setting(
    inWords(DEFAULT_WEIGHTS),
    weights(DEFAULT_WEIGHTS, 1),
    'How far below its own time an interaction boosts an action for readers it does not concern: a share of the time between the two. 0 boosts all the way, 1 not at all. Raising one lowers nothing that is stored.',
  ),
  TOP_WEIGHTS: setting(
    inWords(TOP_DEFAULTS),
    weights(TOP_DEFAULTS, 100),
    'Order TOP: what the logarithms of the counters and of the reader’s interactions with the actor add, and the power of the age in hours.',
  ),
  TOP_TYPES: optional(
    weights({}, 100, null),
    'Order TOP: factors by descriptor type, such as Posted=1.5,Liked=0.5.',
    { shownDefault: '1 for all' },
  ),
} as const;
