// Of what is exported as a whole, a page has only the parts that it names.
export { List } from './articles.tsx';
export {
  Announcer,
  Empty,
  End,
  ErrorMessage as Error,
  Item,
  LoadMore,
  NewItems,
  Root,
  Skeleton,
} from './feed.tsx';
