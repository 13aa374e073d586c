import {
  Avatar,
  ConnectionNotice,
  Feed,
  leaderOf,
  Reactions,
  Summary,
  Time,
  UndoToast,
  useFeed,
  type FanfareAction,
  type FanfareItem,
} from '@fanfare/react';
import {
  CommentThread,
  FanfareWords,
  german,
  ItemMenu,
  Notifications,
  useSlice,
  useWords,
} from '@fanfare/react/more';
import { useEffect, useState, type ComponentProps, type ReactNode } from 'react';
import type {
  FanfareBellElement,
  FanfareFeedElement,
  FanfareSliceElement,
  FanfareThreadElement,
} from './index.ts';
import type { Shown } from './shown.ts';

interface AroundProps {
  readonly element: Shown;
  /** Of those that share a connection: one says of it what there is to say. */
  readonly isFirst: boolean;
}

export function Around({ element, isFirst }: AroundProps): ReactNode {
  const { words } = element;
  const isGerman = /^de\b/i.test(element.language);
  return (
    <FanfareWords words={{ ...(isGerman ? german : {}), ...words }}>
      {isFirst && <ConnectionNotice />}
      {element.draw()}
      {isFirst && <UndoToast {...failing(element)} />}
    </FanfareWords>
  );
}

function failing(element: Shown): { readonly onError: (error: unknown) => void } {
  return {
    onError: (error) =>
      element.tell('fanfare-error', error instanceof Error ? error : new Error(String(error))),
  };
}

/** Takes away what stood there instead. */
function useReady(element: Shown, isReady: boolean): void {
  useEffect(() => {
    if (isReady) element.ready();
  }, [element, isReady]);
}

type List = ComponentProps<typeof Feed.Root>['feed'];
type Drawn<Element> = Shown & Omit<Element, keyof HTMLElement>;

interface ListProps {
  readonly element: Shown & Pick<FanfareFeedElement, 'reactions'>;
  readonly list: List;
  /** Whether each is an item of the reader's feed, which can be taken out of it. */
  readonly hasMenu?: boolean;
}

function ItemList({ element, list, hasMenu = false }: ListProps): ReactNode {
  useReady(element, list.status !== 'loading');
  return (
    <Feed.Root feed={list}>
      <Feed.NewItems />
      <Feed.Announcer />
      <Feed.Error />
      {!element.hasPlaceholder && <Feed.Skeleton />}
      <Feed.List label={element.label || 'Feed'}>
        {(item, index) => (
          <Feed.Item key={item.id} item={item} index={index}>
            <Entry {...{ element, item, hasMenu }} />
          </Feed.Item>
        )}
      </Feed.List>
      <Feed.Empty>
        <Nothing />
      </Feed.Empty>
      <Feed.LoadMore />
    </Feed.Root>
  );
}

/** What the page says where there is nothing, or else the usual. */
function Nothing(): ReactNode {
  return <slot name="empty">{useWords().noNotifications}</slot>;
}

interface EntryProps extends Pick<ListProps, 'element'> {
  readonly item: FanfareItem;
  readonly hasMenu: boolean;
}

function Entry({ element, item, hasMenu }: EntryProps): ReactNode {
  const { action } = item;
  const [isOpen, setOpen] = useState(false);
  const toFail = failing(element);
  return (
    <>
      <Avatar {...leaderOf(action)} />
      <Summary item={item} hrefOf={element.hrefOf} />
      <Time at={action.conducted} />
      <Reactions
        actionId={action.id}
        reactions={element.reactions.split(' ').filter(Boolean)}
        comments={{ isOpen, toggle: () => setOpen(!isOpen) }}
        {...toFail}
      >
        {hasMenu && <ItemMenu item={item} {...toFail} />}
      </Reactions>
      {isOpen && <CommentThread actionId={action.id} />}
    </>
  );
}

export function FeedOf({ element }: { readonly element: Drawn<FanfareFeedElement> }): ReactNode {
  const { view, listId, first, live, filter } = element;
  const list = useFeed({
    ...(view !== '' && { view }),
    ...(listId !== '' && { listId }),
    ...(first > 0 && { first }),
    ...(live === 'insert' && { live }),
    ...(filter && { filter }),
  });
  return <ItemList {...{ element, list }} hasMenu />;
}

export function SliceOf({ element }: { readonly element: Drawn<FanfareSliceElement> }): ReactNode {
  const { refId, first, filter } = element;
  const slice = useSlice(refId, { ...(first > 0 && { first }), ...(filter && { filter }) });
  const { actions, refresh, ...pages } = slice;
  const list = { ...pages, items: actions.map(entryOf), retry: refresh };
  return <ItemList {...{ element, list }} />;
}

/** An action of a slice as the parts of a list take it. */
function entryOf(action: FanfareAction): FanfareItem {
  const { id, conducted } = action;
  return {
    ...{ id, groupId: id, action, relevancy: conducted, reasons: [], resharedBy: [] },
    ...{ isUnread: false, isArchived: false, snoozedUntil: null },
  };
}

export function BellOf({ element }: { readonly element: Drawn<FanfareBellElement> }): ReactNode {
  const { label, hrefOf, linkTo } = element;
  useReady(element, true);
  return (
    <Notifications.Bell
      {...{ empty: <Nothing />, ...failing(element) }}
      {...(label !== '' && { label })}
      {...(hrefOf && { hrefOf })}
      {...(linkTo && { linkTo })}
      {...(element.has('icon') && { icon: <slot name="icon" /> })}
      onOpen={(notification) => element.tell('fanfare-open', notification)}
    />
  );
}

export function ThreadOf({ element }: { readonly element: Drawn<FanfareThreadElement> }): ReactNode {
  return (
    <div data-fanfare="root">
      <CommentThread actionId={element.actionId} onReady={() => element.ready()} />
    </div>
  );
}
