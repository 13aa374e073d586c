import { ENGLISH } from './words.ts';

/** The same of the parts that not every page needs. */
export const MORE_ENGLISH = {
  lists: 'Lists',
  newList: 'New list',
  find: 'Find',
  found: (count: number, isExact: boolean) =>
    `${String(count)} found${isExact ? '' : '; older ones were not looked at'}`,
  /** Of the menu of an item. */
  more: 'More',
  menu: {
    hide: 'Hide this',
    archive: 'Archive',
    unarchive: 'Unarchive',
    snooze: 'Snooze until tomorrow',
    copyLink: 'Copy link',
    report: 'Report …',
  },
  muteAuthor: (name: string) => `Mute ${name}`,
  blockAuthor: (name: string) => `Block ${name}`,
  /** The reasons of a report, by what is sent. */
  reasons: {
    spam: 'Spam',
    abuse: 'Insult or harassment',
    'hate speech': 'Hate speech',
    'not true': 'Not true',
    other: 'Something else',
  },
  reported: 'Reported. Thank you.',
  writeComment: 'Write a comment',
  reply: 'Reply',
  replyTo: (name: string) => `Reply to ${name}`,
  edit: 'Edit',
  editComment: 'Edit your comment',
  edited: 'edited',
  remove: 'Delete',
  save: 'Save',
  cancel: 'Cancel',
  /** Whom a text may mention. */
  people: 'People',
  peopleFound: (count: number) =>
    `${count === 1 ? '1 person' : `${String(count)} people`}, up and down to choose`,
  send: 'Send',
  later: 'Later …',
  now: 'Now',
  publishAt: 'When it is published',
  schedule: 'Schedule',
  sendAgain: 'Send again',
  discard: 'Discard',
  inReview: 'Waiting for review',
  earlierComments: 'Earlier comments',
  notifications: 'Notifications',
  newIn: (label: string, count: string) => `${label}, ${count} new`,
  noNotifications: 'Nothing yet.',
  markAllRead: 'Mark all as read',
  markRead: 'Mark as read',
  all: 'All',
  unreadOnly: 'Unread',
  preferences: 'Settings',
  kinds: {
    ASSIGNED: 'Something is assigned to me',
    COMMENT: 'Comments',
    FOLLOW: 'New followers',
    LIKE: 'Likes',
    MENTION: 'Mentions of me',
    OWN: 'What concerns me',
    REACTION: 'Reactions',
    REPLY: 'Replies to me',
    RESHARE: 'Reshares',
  },
  channels: { IN_APP: 'Here', EMAIL: 'Mail', PUSH: 'Push' },
  noMails: 'No mails are sent to your address.',
  noDigests: 'No mails are sent about what is new.',
  resumeMails: 'Send mails again',
  quietHours: 'Quiet hours',
  from: 'From',
  to: 'To',
};

/** For a page in English that gives its own words for some parts. */
export const english = { ...ENGLISH, ...MORE_ENGLISH };

type English = typeof english;

/** All that the parts say on their own. */
export type Words = {
  readonly [Name in keyof English]: English[Name] extends (...given: infer Given) => string
    ? (...given: Given) => string
    : English[Name] extends string
      ? string
      : Readonly<Record<keyof English[Name], string>>;
};

/** Of the parts of every page. */
export type CommonWords = Pick<Words, keyof typeof ENGLISH>;
