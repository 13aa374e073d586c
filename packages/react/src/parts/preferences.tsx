import type { Channel, NotificationKind, NotificationPreference } from '@fanfare/client';
import { useId, type ReactNode } from 'react';
import { usePreferences } from '../hooks/settings.ts';
import { useWords } from '../hooks/words.ts';

interface PreferencesProps {
  /** It could not be set, and is as it was before. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

const USUAL = { from: '22:00', to: '07:00', days: null };

/** How the reader is notified: a table of kinds and channels, the hours in which nothing is sent, and why no mails are. */
export function Preferences({ onError }: PreferencesProps): ReactNode {
  const words = useWords();
  const { preferences, quietHours, mails, resumeMails, isLoading, error, set, setQuietHours } =
    usePreferences();
  const id = useId();
  const fail = (reason: unknown): void => onError?.(reason);
  // Those of single types are set where the type is shown.
  const general = preferences.filter(({ type }) => type === null);
  const kinds = [...new Set(general.map(({ kind }) => kind))];
  const channels = [...new Set(general.map(({ channel }) => channel))];
  const box = (kind: NotificationKind, channel: Channel, one: NotificationPreference): ReactNode => (
    <input
      type="checkbox"
      aria-label={`${words.kinds[kind]}: ${words.channels[channel]}`}
      checked={one.isOn}
      disabled={one.isLocked}
      onChange={({ target }) => {
        set({ kind, channel, isOn: target.checked }).catch(fail);
      }}
    />
  );
  const hour = (name: 'from' | 'to'): ReactNode =>
    quietHours !== null && (
      <label>
        {words[name]}{' '}
        <input
          type="time"
          required
          value={quietHours[name]}
          onChange={({ target }) => {
            if (target.value !== '') setQuietHours({ ...quietHours, [name]: target.value }).catch(fail);
          }}
        />
      </label>
    );
  return (
    <div data-fanfare="preferences" aria-busy={isLoading}>
      {error !== null && <p role="alert">{error.message}</p>}
      <table>
        <thead>
          <tr>
            <td />
            {channels.map((channel) => (
              <th key={channel} scope="col">
                {words.channels[channel]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {kinds.map((kind) => (
            <tr key={kind}>
              <th scope="row">{words.kinds[kind]}</th>
              {channels.map((channel) => {
                const one = general.find((other) => other.kind === kind && other.channel === channel);
                return <td key={channel}>{one && box(kind, channel, one)}</td>;
              })}
            </tr>
          ))}
        </tbody>
      </table>
      {mails !== null && (mails.offReason !== null || mails.digestsOffSince !== null) && (
        <p data-fanfare="no-mails">
          {mails.offReason === null ? words.noDigests : words.noMails}{' '}
          <button type="button" onClick={() => void resumeMails().catch(fail)}>
            {words.resumeMails}
          </button>
        </p>
      )}
      <div data-fanfare="quiet-hours">
        <label htmlFor={id}>
          <input
            id={id}
            type="checkbox"
            checked={quietHours !== null}
            onChange={({ target }) => {
              const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
              setQuietHours(target.checked ? { ...USUAL, timeZone } : null).catch(fail);
            }}
          />{' '}
          {words.quietHours}
        </label>
        {hour('from')}
        {hour('to')}
      </div>
    </div>
  );
}
