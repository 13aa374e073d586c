import type { Notification } from '@fanfare/client';
import { useEffect, useState, type ReactNode } from 'react';
import { useNotifications, type Notifications as NotificationsState } from '../hooks/notifications.ts';
import type { SummaryPart } from '../item.ts';
import { useLanguage, useWords } from '../provider.tsx';
import type { NotificationOptions } from '../store/notification-store.ts';
import { Avatar } from './avatar.tsx';
import { Announced, Article, Articles, Feed, summaryId } from './feed.tsx';
import { ConnectionNotice } from './frame.tsx';
import { Popover } from './inbox.tsx';
import { Sentence, Time } from './item.tsx';

type Actor = Notification['actors'][number];

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
  /** A mark could not be set. It is shown as it was before. */
  readonly onError?: (error: unknown) => void;
}

interface ItemProps extends Look {
  readonly notification: Notification;
  /** From 0. */
  readonly index: number;
  readonly notifications: Pick<NotificationsState, 'markRead'>;
}

/** One article: who, the sentence, the newest text or else what the action says, and when. Opening it marks it as read. */
function Item({ notification, index, notifications, ...look }: ItemProps): ReactNode {
  const { hrefOf, linkTo, onOpen, avatar, onError } = look;
  const { id, actors, summary, summaryParts, action, interaction, at, isRead } = notification;
  const language = useLanguage();
  const text = interaction?.text;
  const about = text ?? action?.descriptor.summary;
  const labelId = summaryId(id);
  const href = linkTo?.(notification);
  const open = (): void => {
    notifications.markRead([notification]).catch((error: unknown) => onError?.(error));
    onOpen?.(notification);
  };
  const opener = { 'data-fanfare': 'open', 'aria-describedby': labelId, onClick: open };
  return (
    <Article {...{ id, index, labelId, kind: 'notification' }} isUnread={!isRead}>
      <span data-fanfare="avatars" aria-hidden="true">
        {actors.map((actor) => (
          <span key={actor.memberId}>
            {avatar?.(actor) ?? <Avatar id={actor.memberId} name={actor.name} src={actor.imageUrl} />}
          </span>
        ))}
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
      </div>
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
        <Item key={notification.id} {...{ notification, index, notifications }} {...look} />
      )}
    </Articles>
  );
}

interface MarkAllReadProps {
  readonly notifications: Pick<NotificationsState, 'unread' | 'markAllRead'>;
  readonly onError?: (error: unknown) => void;
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

interface BellProps extends Look {
  /** Of the panel. */
  readonly label?: string;
  /** Of the button. @param count such as "3" or "99+"; "0" while nothing is new */
  readonly buttonLabel?: (count: string) => string;
  readonly options?: NotificationOptions;
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
  icon = <BellIcon />,
  empty,
  children,
  ...look
}: BellProps): ReactNode {
  const words = useWords();
  const label = given ?? words.notifications;
  const buttonLabel = say ?? ((count: string) => (count === '0' ? label : words.newIn(label, count)));
  const notifications = useNotifications(options);
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
          <Panel {...{ label, notifications, close, look }} empty={empty ?? words.noNotifications}>
            {children?.(notifications, close)}
          </Panel>
        )}
      </Popover>
      <Announced count={unseen.count}>{(said) => buttonLabel(shortOf(said))}</Announced>
    </>
  );
}

interface PanelProps {
  readonly label: string;
  readonly notifications: NotificationsState;
  readonly empty: ReactNode;
  readonly close: () => void;
  readonly look: Look;
  /** Undefined: the usual one. */
  readonly children: ReactNode;
}

function Panel({ label, notifications, empty, close, look, children }: PanelProps): ReactNode {
  const { items, markSeen } = notifications;
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
            <MarkAllRead notifications={notifications} {...(onError && { onError })} />
          </div>
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
    </Feed.Root>
  );
}

function BellIcon(): ReactNode {
  return (
    <svg
      width="20"
      height="20"
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="2"
      aria-hidden="true"
    >
      <path
        d="M6 9a6 6 0 0 1 12 0c0 6 2 7 2 7H4s2-1 2-7M10 20a2 2 0 0 0 4 0"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  );
}

export const Notifications = { Bell, List, Item, MarkAllRead };
