import { expectTypeOf, test } from 'vitest';
import type {
  FanfareAttributes,
  FanfareBellElement,
  FanfareFeedElement,
  FanfareThreadElement,
  Notification,
} from '../../src/index.ts';

test('tags, events and attributes are typed', () => {
  expectTypeOf<HTMLElementTagNameMap['fanfare-feed']>().toEqualTypeOf<FanfareFeedElement>();
  expectTypeOf<HTMLElementTagNameMap['fanfare-bell']>().toEqualTypeOf<FanfareBellElement>();
  expectTypeOf<GlobalEventHandlersEventMap['fanfare-open']['detail']>().toEqualTypeOf<Notification>();
  expectTypeOf<FanfareThreadElement['actionId']>().toEqualTypeOf<string>();
  type Feed = FanfareAttributes['fanfare-feed'];
  expectTypeOf<Feed['list-id']>().toEqualTypeOf<string | undefined>();
  expectTypeOf<Feed['first']>().toEqualTypeOf<number | undefined>();
  expectTypeOf<Feed['filter']>().toEqualTypeOf<FanfareFeedElement['filter'] | undefined>();
  expectTypeOf<FanfareAttributes['fanfare-thread']['action-id']>().toEqualTypeOf<string | undefined>();
  expectTypeOf<Feed>().not.toHaveProperty('get-token');
});
