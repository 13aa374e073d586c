import '../later.css';

/** Loaded when a thread is opened. */
export { CommentThread as Thread } from '@fanfare/react/more';
