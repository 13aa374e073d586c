/** Stylesheets of @fanfare/react as texts, for the oldest browsers. */
declare module 'fanfare-look/style' {
  const text: string;
  export default text;
}
declare module 'fanfare-look/tokens' {
  const text: string;
  export default text;
}
