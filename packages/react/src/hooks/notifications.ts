import type { Notification } from '@fanfare/client';
import { useEffect, useMemo, useSyncExternalStore } from 'react';
import { useProvided, useReader } from '../provider.tsx';
import {
  keyOf,
  notificationsOf,
  type NotificationOptions,
  type NotificationState,
} from '../store/notification-store.ts';
import { controlsOf, type ListControls } from './feed.ts';
import { useLatest } from './latest.ts';

export interface Notifications extends Omit<NotificationState, 'waiting'>, ListControls {
  /** Marks all that is shown, and all below it, as seen. */
  readonly markSeen: () => Promise<void>;
  readonly markRead: (notifications: readonly Notification[]) => Promise<void>;
  /** Marks all that is shown, and all below it, as read. */
  readonly markAllRead: () => Promise<void>;
}

/** What concerns the reader, the newest first. Options that are equal share it, however they are written down. */
export function useNotifications(options: NotificationOptions = {}): Notifications {
  const { reader, isEnabled } = useProvided();
  const key = keyOf(options);
  // The key says all that the options say.
  const store = useMemo(() => notificationsOf(reader, options), [reader, key]);
  const snapshot = useSyncExternalStore(
    isEnabled ? store.use : store.subscribe,
    store.getSnapshot,
    store.getServerSnapshot,
  );
  return useMemo(() => {
    const { waiting, ...rest } = snapshot;
    const { markSeen, markRead, markAllRead } = store;
    return { ...rest, ...controlsOf(store, waiting), markSeen, markRead, markAllRead };
  }, [store, snapshot]);
}

/** Calls back with each notification that is new while the bell is watched, such as for a toast. */
export function useOnNotification(listener: ((notification: Notification) => void) | undefined): void {
  const { notified } = useReader();
  const latest = useLatest(listener);
  useEffect(() => {
    const tell = (notification: Notification): void => latest.current?.(notification);
    notified.add(tell);
    return () => {
      notified.delete(tell);
    };
  }, [notified]);
}
