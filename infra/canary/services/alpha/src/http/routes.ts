import '../messaging/on-thing.ts'; // room-http
import '../usecases/do-thing.ts';
