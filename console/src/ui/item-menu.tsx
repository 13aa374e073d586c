import { useItemActions, useReadMark, type FanfareItem, type FeedState, type Undo } from '@fanfare/react';
import { AlarmClock, Archive, ArchiveRestore, EyeOff, Link as LinkIcon, Mail, MailOpen } from 'lucide-react';
import type { ReactNode } from 'react';
import { goTo } from '../route.ts';
import { ChoiceMenu, type Choice } from './menu.tsx';

interface MenuProps {
  readonly item: FanfareItem;
  readonly at: HTMLElement;
  readonly feed: FeedState;
  readonly onUndo: (undo: Undo) => void;
  readonly onError: (error: unknown) => void;
  readonly onClose: () => void;
}

/** What one may do with an item of the feed. */
export function ItemMenu({ item, at, feed, onUndo, onError, onClose }: MenuProps): ReactNode {
  const { hide, archive, unarchive, snooze } = useItemActions(item);
  const { markRead, markUnread } = useReadMark(feed);
  const take = (change: () => Promise<Undo>) => (): void => {
    change().then(onUndo, onError);
  };
  const choices: Choice[] = [
    item.isUnread
      ? { title: 'Mark as read', icon: MailOpen, onChoose: () => void markRead([item]).catch(onError) }
      : { title: 'Mark as unread', icon: Mail, onChoose: () => void markUnread([item]).catch(onError) },
    {
      ...{ title: 'Snooze until tomorrow', icon: AlarmClock },
      onChoose: take(() => snooze(tomorrow())),
    },
    item.isArchived
      ? { title: 'Unarchive', icon: ArchiveRestore, onChoose: take(unarchive) }
      : { title: 'Archive', icon: Archive, onChoose: take(archive) },
    { title: 'Hide', icon: EyeOff, onChoose: take(hide) },
    { title: 'Why it is here', icon: LinkIcon, onChoose: () => goTo('action', item.action.id) },
  ];
  return <ChoiceMenu {...{ at, choices, onClose }} />;
}

/** At this time of the day. */
function tomorrow(): Date {
  const day = new Date();
  day.setDate(day.getDate() + 1);
  return day;
}
