import type { ReactNode } from 'react';
import { define, OwnElement } from './element.ts';
import type {
  FanfareBellElement,
  FanfareFeedElement,
  FanfareSliceElement,
  FanfareThreadElement,
} from './index.ts';
import { BellOf, FeedOf, SliceOf, ThreadOf } from './parts.tsx';

class FeedElement extends OwnElement implements FanfareFeedElement {
  declare view: string;
  declare listId: string;
  declare first: number;
  declare reactions: string;
  declare live: string;
  declare filter: FanfareFeedElement['filter'];

  draw(): ReactNode {
    return <FeedOf element={this} />;
  }
}

class BellElement extends OwnElement implements FanfareBellElement {
  declare linkTo: FanfareBellElement['linkTo'];

  draw(): ReactNode {
    return <BellOf element={this} />;
  }
}

class ThreadElement extends OwnElement implements FanfareThreadElement {
  declare actionId: string;

  draw(): ReactNode {
    // Another action is another thread, with what was begun there left.
    return this.actionId === '' ? null : <ThreadOf key={this.actionId} element={this} />;
  }
}

class SliceElement extends OwnElement implements FanfareSliceElement {
  declare refId: string;
  declare first: number;
  declare reactions: string;
  declare filter: FanfareSliceElement['filter'];

  draw(): ReactNode {
    return this.refId === '' ? null : <SliceOf element={this} />;
  }
}

const listed = { numbers: ['first'], values: ['filter'] };
define('fanfare-feed', FeedElement, { ...listed, texts: ['view', 'listId', 'reactions', 'live'] });
define('fanfare-bell', BellElement, { texts: [], values: ['linkTo'] });
define('fanfare-thread', ThreadElement, { texts: ['actionId'] });
define('fanfare-slice', SliceElement, { ...listed, texts: ['refId', 'reactions'] });
