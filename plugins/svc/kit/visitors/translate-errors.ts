import { asRecord, isRecord, RestError, translateText, type HostApi, type RestRequest } from '#plugin-api';

type Handler<Result> = (request: RestRequest) => Promise<Result>;

/** Runs a route for visitors in the language of the site, with its errors. Their codes stay the same. */
export function forVisitors<Result>({ i18n }: Pick<HostApi, 'i18n'>, handler: Handler<Result>): Handler<Result> {
  return (request) =>
    i18n.inSiteLanguage(() =>
      handler(request).catch((error: unknown) => {
        throw translateError(error);
      }),
    );
}

/** The error with translated sentences, also those of its fields (`data.params`). */
export function translateError<Thrown>(error: Thrown): Thrown | RestError {
  if (!(error instanceof RestError)) return error;
  const { code, status, headers, additional, data } = error;
  const message = translateText(error.message);
  const params = asRecord(asRecord(data)['params']);
  const translated = Object.fromEntries(
    Object.entries(params).map(([name, text]) => [name, typeof text === 'string' ? translateText(text) : text]),
  );
  return new RestError({
    ...{ code, status, message, headers, additional, cause: error },
    data: isRecord(data) && 'params' in data ? { ...data, params: translated } : data,
  });
}
