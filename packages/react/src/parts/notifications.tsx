import type { Notification, NotificationFilter } from '@fanfare/client';
import { useEffect, useState, type ReactNode } from 'react';
import {
  useNotifications,
  useOnNotification,
  type Notifications as NotificationsState,
} from '../hooks/notifications.ts';
import { useDay } from '../hooks/relative-time.ts';
import type { SummaryPart } from '../item.ts';
import { useLanguage, useReader } from '../provider.tsx';
import { useWords } from '../hooks/words.ts';
import { mute } from '../store/standings.ts';
import type { Words } from '../more-words.ts';
import type { NotificationOptions } from '../store/notification-store.ts';
import { Avatar } from './avatar.tsx';
import { Articles } from './articles.tsx';
import { Announced, Article, summaryId } from './feed.tsx';
import * as Feed from './feed-parts.ts';
import { ConnectionNotice } from './frame.tsx';
import { Icon, type Shape } from './icon.tsx';
import { Popover } from './inbox.tsx';
import { Sentence, Time } from './item.tsx';
import { MenuEntries, type MenuEntry } from './menu.tsx';
import { Preferences } from './preferences.tsx';

type Actor = Notification['actors'][number];

/** What each kind looks like at the avatar; any other one is a bell, or a sign of the stylesheet. */
const SHAPES: Partial<Record<Notification['kind'], Shape>> = {
  COMMENT: 'comments',
  LIKE: 'like',
  REACTION: 'like',
  REPLY: 'comments',
  RESHARE: 'reshare',
};

/** How each notification is shown and opened. */
interface Look {
  /** The address of a person or thing in its sentence; undefined: no link. */
  readonly hrefOf?: (part: SummaryPart) => string | undefined;
  /** What it leads to; undefined: a button is shown, for `onOpen`. */
  readonly linkTo?: (notification: Notification) => string | undefined;
  /** It has been opened, and is marked as read. */
  readonly onOpen?: (notification: Notification) => void;
  /** A picture instead of the initials. It is not read out: the sentence has the name. */
  readonly avatar?: (actor: Actor) => ReactNode;
  /** Buttons of the host below the sentence, such as to accept an invitation, by what it is about. */
  readonly actions?: (notification: Notification) => readonly MenuEntry[];
  /** A mark could not be set. It is shown as it was before. */
  readonly onError?: (error: unknown) => void;
}

interface ItemProps extends Look {
  readonly notification: Notification;
  /** From 0. */
  readonly index: number;
  readonly notifications: Pick<NotificationsState, 'markRead'>;
  /** The first of its day, which is shown above it. */
  readonly isNewDay?: boolean;
}

/** One article: who, the sentence, the newest text or else what the action says, and when. Opening it marks it as read. */
function Item({ notification, index, notifications, isNewDay, ...look }: ItemProps): ReactNode {
  const { hrefOf, linkTo, onOpen, avatar, actions, onError } = look;
  const words = useWords();
  const day = useDay(notification.at);
  const reader = useReader();
  const { id, kind, actors, summary, summaryParts, action, interaction, at, isRead } = notification;
  const language = useLanguage();
  const text = interaction?.text;
  const about = text ?? action?.descriptor.summary;
  const labelId = summaryId(id);
  const href = linkTo?.(notification);
  const open = (): void => {
    notifications.markRead([notification]).catch((error: unknown) => onError?.(error));
    onOpen?.(notification);
  };
  const buttons = actions?.(notification) ?? [];
  const [actor] = actors;
  const entries = [
    ...(isRead ? [] : [{ label: words.markRead, run: () => notifications.markRead([notification]) }]),
    ...(actors.length === 1 && actor !== undefined
      ? [{ label: words.muteAuthor(actor.name), run: () => mute(reader, { memberId: actor.memberId }) }]
      : []),
  ];
  const opener = { 'data-fanfare': 'open', 'aria-describedby': labelId, onClick: open };
  return (
    <Article {...{ id, index, labelId, kind: 'notification' }} isUnread={!isRead}>
      {isNewDay === true && (
        // Each says when it was, too.
        <span data-fanfare="day" aria-hidden="true">
          {day}
        </span>
      )}
      <span data-fanfare="avatars" aria-hidden="true">
        {actors.map((actor) => (
          <span key={actor.memberId}>
            {avatar?.(actor) ?? <Avatar id={actor.memberId} name={actor.name} src={actor.imageUrl} />}
          </span>
        ))}
        <span data-fanfare="kind" data-of={kind}>
          <Icon of={SHAPES[kind] ?? 'bell'} />
        </span>
      </span>
      <div data-fanfare="notification">
        <Sentence id={labelId} parts={summaryParts} hrefOf={hrefOf} />
        {about !== undefined && about !== summary && (
          <p data-fanfare="excerpt" lang={text == null ? language : undefined} dir="auto">
            {about}
          </p>
        )}
        {href === undefined ? (
          <button type="button" {...opener}>
            <Time at={at} />
          </button>
        ) : (
          <a href={href} {...opener}>
            <Time at={at} />
          </a>
        )}
        {buttons.length > 0 && (
          <div data-fanfare="notification-actions">
            {buttons.map(({ label, run }) => (
              <button
                key={label}
                type="button"
                data-fanfare="action"
                onClick={() => {
                  Promise.resolve(run()).catch((error: unknown) => onError?.(error));
                }}
              >
                {label}
              </button>
            ))}
          </div>
        )}
      </div>
      {entries.length > 0 && (
        <Popover
          {...{ label: words.more, buttonLabel: words.more, name: 'more', kind: 'menu' }}
          button={<Icon of="more" />}
        >
          {(close) => <MenuEntries {...{ entries, close, onError }} />}
        </Popover>
      )}
    </Article>
  );
}

interface ListProps extends Look {
  readonly label: string;
  readonly notifications: NotificationsState;
}

/** The list alone: articles, with the keys of a feed. Inside a `<Feed.Root feed={notifications}>`. */
function List({ label, notifications, ...look }: ListProps): ReactNode {
  return (
    <Articles label={label} items={notifications.items}>
      {(notification, index) => (
        <Item
          key={notification.id}
          {...{ notification, index, notifications }}
          isNewDay={dayOf(notification) !== dayOf(notifications.items[index - 1])}
          {...look}
        />
      )}
    </Articles>
  );
}

function dayOf(notification: Notification | undefined): string {
  return notification === undefined ? '' : new Date(notification.at).toDateString();
}

interface MarkAllReadProps {
  readonly notifications: Pick<NotificationsState, 'unread' | 'markAllRead'>;
  readonly onError?: ((error: unknown) => void) | undefined;
  readonly children?: ReactNode;
}

function MarkAllRead({
  notifications: { unread, markAllRead },
  onError,
  children,
}: MarkAllReadProps): ReactNode {
  const words = useWords();
  return (
    <button
      type="button"
      data-fanfare="mark-all-read"
      // It keeps the focus when it has done its work.
      aria-disabled={unread.count === 0}
      onClick={() => {
        if (unread.count > 0) markAllRead().catch((error: unknown) => onError?.(error));
      }}
    >
      {children ?? words.markAllRead}
    </button>
  );
}

interface Tab {
  readonly label: string;
  readonly filter: NotificationFilter;
}

interface BellProps extends Look {
  /** Of the panel. */
  readonly label?: string;
  /** Of the button. @param count such as "3" or "99+"; "0" while nothing is new */
  readonly buttonLabel?: (count: string) => string;
  readonly options?: NotificationOptions;
  /** Instead of all and unread: what of them each tab shows. */
  readonly tabs?: readonly Tab[];
  /** Something new has come, such as for a toast. */
  readonly onNotification?: (notification: Notification) => void;
  /** Instead of the drawn bell. */
  readonly icon?: ReactNode;
  /** Shown while there is none. */
  readonly empty?: ReactNode;
  /** Instead of the whole panel. */
  readonly children?: (notifications: NotificationsState, close: () => void) => ReactNode;
}

/**
 * A button with the number of what is new, which opens the list. Opening marks what is shown as seen, so the number goes out;
 * opening a notification marks it as read.
 */
function Bell({
  label: given,
  buttonLabel: say,
  options = {},
  tabs,
  onNotification,
  icon = <Icon of="bell" />,
  empty,
  children,
  ...look
}: BellProps): ReactNode {
  const words = useWords();
  const label = given ?? words.notifications;
  const buttonLabel = say ?? ((count: string) => (count === '0' ? label : words.newIn(label, count)));
  const notifications = useNotifications(options);
  useOnNotification(onNotification);
  const { unseen, setAtTop } = notifications;
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    // Nobody reads it: nothing has to wait.
    if (!isOpen) setAtTop(true);
  }, [isOpen, setAtTop]);
  const shortOf = (n: number): string => (n > 99 ? '99+' : String(n));
  const count = shortOf(unseen.count);
  return (
    <>
      <Popover
        {...{ label, name: 'bell', onToggle: setOpen, buttonLabel: buttonLabel(count) }}
        button={
          <>
            {icon}
            {unseen.count > 0 && (
              <span data-fanfare="unseen-badge" aria-hidden="true">
                {count}
              </span>
            )}
          </>
        }
      >
        {(close) => (
          <Panel
            {...{ label, options, notifications, close, look }}
            tabs={tabs ?? tabsOf(words)}
            empty={empty ?? words.noNotifications}
          >
            {children?.(notifications, close)}
          </Panel>
        )}
      </Popover>
      <Announced count={unseen.count}>{(said) => buttonLabel(shortOf(said))}</Announced>
    </>
  );
}

function tabsOf({ all, unreadOnly }: Words): readonly Tab[] {
  return [
    { label: all, filter: {} },
    { label: unreadOnly, filter: { unreadOnly: true } },
  ];
}

function toggle(label: string, isOn: boolean, onClick: () => void): ReactNode {
  return (
    <button key={label} type="button" data-fanfare="toggle" aria-pressed={isOn} onClick={onClick}>
      {label}
    </button>
  );
}

interface PanelProps {
  readonly label: string;
  readonly options: NotificationOptions;
  readonly tabs: readonly Tab[];
  readonly notifications: NotificationsState;
  readonly empty: ReactNode;
  readonly close: () => void;
  readonly look: Look;
  /** Undefined: the usual one. */
  readonly children: ReactNode;
}

function Panel({
  label,
  options,
  tabs,
  notifications: all,
  empty,
  close,
  look,
  children,
}: PanelProps): ReactNode {
  const words = useWords();
  const { items, markSeen } = all;
  const [tab, setTab] = useState<Tab | undefined>(tabs[0]);
  const [isSetting, setSetting] = useState(false);
  const shown = useNotifications({ ...options, filter: { ...options.filter, ...tab?.filter } });
  const notifications = children === undefined ? shown : all;
  const newest = items[0]?.at;
  const { onError } = look;
  useEffect(() => {
    markSeen().catch((error: unknown) => onError?.(error));
    // What comes while it is open is seen as well.
  }, [newest, markSeen]);
  return (
    <Feed.Root feed={notifications}>
      {children ?? (
        <>
          <div data-fanfare="notifications-head">
            <h2>{label}</h2>
            <MarkAllRead notifications={all} onError={onError} />
            {toggle(words.preferences, isSetting, () => setSetting(!isSetting))}
          </div>
          {isSetting ? (
            <Preferences onError={onError} />
          ) : (
            <>
              {tabs.length > 1 && (
                <div role="group" aria-label={label} data-fanfare="tabs">
                  {tabs.map((one) => toggle(one.label, one.label === tab?.label, () => setTab(one)))}
                </div>
              )}
              <ConnectionNotice />
              <Feed.NewItems />
              <Feed.Error />
              <Feed.Skeleton rows={3} />
              <List
                {...{ label, notifications }}
                {...look}
                onOpen={(notification) => {
                  close();
                  look.onOpen?.(notification);
                }}
              />
              <Feed.Empty>{empty}</Feed.Empty>
              <Feed.LoadMore />
            </>
          )}
        </>
      )}
    </Feed.Root>
  );
}

export const Notifications = { Bell, List, Item, MarkAllRead, Preferences };
