/** The bundle turns a style sheet into its text. */
declare module '*.css' {
  const text: string;
  export default text;
}
