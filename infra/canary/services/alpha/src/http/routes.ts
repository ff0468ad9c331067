import '../messaging/on-thing.ts'; // layer-http
import '../usecases/do-thing.ts';
