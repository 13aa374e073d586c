import '../later.css';
import { Feed, useConnection, type SummaryPart } from '@fanfare/react';
import { Notifications, useNotifications } from '@fanfare/react/more';
import { Bell } from 'lucide-react';
import { useEffect, useState, type ReactNode } from 'react';
import { ownCommand } from '../own-command.ts';
import { hrefTo, useRoute } from '../route.ts';
import { AsCode } from '../ui/as-code.tsx';
import { hrefOfPart } from '../ui/entry.tsx';
import { Teach } from '../ui/states.tsx';

const NOTIFICATIONS = `query Notifications($first: Int) {
  notifications(first: $first) {
    unseen { count isExact } unread { count isExact } pageInfo { hasNextPage endCursor } liveCursor
    edges { node { id kind at isSeen isRead summary actors { name } count { count isExact } action { id descriptor { summary } } interaction { text } } } } }`;
const ASKED = { first: 25 };
const UNREAD = { ...ASKED, filter: { unreadOnly: true } };
const SHOWN = [
  ['', 'All'],
  ['unread', 'Unread'],
  ['settings', 'Settings'],
] as const;

/** What concerns the reader, the newest first. What is shown here is seen, and what is opened is read. */
export function NotificationsScreen(): ReactNode {
  const show = useRoute().query.get('show') ?? '';
  const notifications = useNotifications(show === 'unread' ? UNREAD : ASKED);
  const { items, markSeen } = notifications;
  const [failure, setFailure] = useState<string | null>(null);
  const fail = (error: unknown): void => {
    setFailure(error instanceof Error ? error.message : String(error));
  };
  // While the server is away nothing can be marked: the notice says so already.
  const isLive = useConnection().state === 'live';
  const newest = items[0]?.at;
  useEffect(() => {
    if (newest !== undefined && isLive) markSeen().then(() => setFailure(null), fail);
  }, [newest, markSeen, isLive]);
  return (
    <>
      <div className="filters">
        <nav className="tabs" aria-label="Show">
          {SHOWN.map(([name, title]) => (
            <a
              key={name}
              href={hrefTo('notifications', '', { show: name })}
              aria-current={name === show ? 'true' : undefined}
            >
              {title}
            </a>
          ))}
        </nav>
        <div className="filters marks">
          <Notifications.MarkAllRead {...{ notifications }} onError={fail}>
            Mark all read
          </Notifications.MarkAllRead>
        </div>
      </div>
      {failure !== null && (
        <p role="alert" className="alert">
          {failure}
        </p>
      )}
      {show === 'settings' ? (
        <section className="card">
          <Notifications.Preferences onError={fail} />
        </section>
      ) : (
        <Feed.Root feed={notifications}>
          <Feed.NewItems />
          <Feed.Skeleton />
          <Feed.Error />
          <Notifications.List
            {...{ notifications }}
            label="Notifications"
            hrefOf={(part: SummaryPart) => hrefOfPart(part)}
            linkTo={({ action }) => (action === null ? undefined : hrefTo('action', action.id))}
            onError={fail}
          />
          <Feed.Empty>
            <div className="empty">
              <Teach icon={Bell} title="Nothing concerns you yet." code={`${ownCommand()} demo`}>
                Comments, replies, mentions, likes, reshares and new followers are listed here.
              </Teach>
            </div>
          </Feed.Empty>
          <Feed.LoadMore />
        </Feed.Root>
      )}
      <AsCode query={NOTIFICATIONS} variables={ASKED} />
    </>
  );
}

/** How many the reader has not seen, beside the name of the screen. */
export function Unseen(): ReactNode {
  const { unseen } = useNotifications(ASKED);
  if (unseen.count === 0) return null;
  const text = `${String(unseen.count)}${unseen.isExact ? '' : '+'}`;
  return (
    <span data-fanfare="unread-badge" role="img" aria-label={`${text} new`}>
      {text}
    </span>
  );
}
