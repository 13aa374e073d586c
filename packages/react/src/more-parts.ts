'use client';

export { useAutoRead } from './hooks/auto-read.ts';
export { useImpressions } from './hooks/impressions.ts';
export { CommentThread } from './parts/comments.tsx';
export { Composer } from './parts/composer.tsx';
export { Find } from './parts/find.tsx';
export { focusOutside } from './parts/focus-outside.ts';
export { InboxPopover } from './parts/inbox.tsx';
export { ItemMenu } from './parts/menu.tsx';
export { ListPicker } from './parts/list-picker.tsx';
export { Notifications } from './parts/notifications.tsx';
